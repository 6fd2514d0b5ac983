// A worked example of each command, shown in help and run by the tests; and what the exit statuses mean.

interface Example {
  /** The command's path below `tutti`. */
  readonly command: string;
  readonly about: string;
  /** A line for a POSIX shell, run from the root of the clone. */
  readonly run: string;
}

export const examples: readonly Example[] = [
  {
    command: "version",
    about: "Which Tutti is this?",
    run: "tutti version",
  },
  {
    command: "agents run",
    about: "Run an agent and the one it calls, rehearsed from a script",
    run: 'tutti agents run lead "What is this?" --cwd examples/project --script examples/project/script.json --state state',
  },
  {
    command: "agents list",
    about: "Which agents are there?",
    run: "tutti agents list --cwd examples/project",
  },
  {
    command: "agents show",
    about: "What may an agent use, and what is it told?",
    run: "tutti agents show lead --cwd examples/project",
  },
  {
    command: "agents check",
    about: "Is anything wrong with a definition?",
    run: "tutti agents check --cwd examples/project",
  },
  {
    command: "agents new",
    about: "Start a definition of your own",
    run: "tutti agents new reviewer --cwd .",
  },
  {
    command: "models",
    about: "Which models can be used, at what price?",
    run: "tutti models --offline",
  },
  {
    command: "doctor",
    about: "Is all there that is needed?",
    run: "tutti doctor",
  },
  {
    command: "invoke",
    about: "Run an invocation; stopped or killed, the same line goes on with it",
    run: "tutti invoke examples/invocations/single.json --state state",
  },
  {
    command: "tasks",
    about: "What runs, and what is asked?",
    run: "tutti tasks --state state",
  },
  {
    command: "show",
    about: "What did the newest tree do, and what did it cost?",
    run: `tutti show "$(tutti tasks -n 1 --state state | grep -o -m 1 'tsk_[a-z0-9_]*')" --state state`,
  },
  {
    command: "logs",
    about: "What happened in it? With -f, what happens while it runs",
    run: `tutti logs "$(tutti tasks -n 1 --state state | grep -o -m 1 'tsk_[a-z0-9_]*')" --state state`,
  },
  {
    command: "export",
    about: "All of it as JSON lines, to keep or to count",
    run: `tutti export "$(tutti tasks -n 1 --state state | grep -o -m 1 'tsk_[a-z0-9_]*')" --state state`,
  },
  {
    command: "prune",
    about: "Remove what ended more than a month ago",
    run: "tutti prune --older 30d --state state",
  },
  {
    command: "up",
    about: "Run the daemon in a process of its own; without --detach, here, until Ctrl-C",
    run: "tutti up --detach --state state",
  },
  {
    command: "status",
    about: "Is it running, and what is there to do?",
    run: "tutti status --state state",
  },
  {
    command: "invoke",
    about: "Hand it work and go away",
    run: "tutti invoke examples/invocations/ask.json --detach --state state",
  },
  {
    command: "asks",
    about: "What waits for an answer?",
    run: "tutti asks --state state",
  },
  {
    command: "answer",
    about: "Answer the first question",
    run: `tutti answer "$(tutti asks --state state | grep -o -m 1 'ask_[a-z0-9_]*')" red --state state`,
  },
  {
    command: "message",
    about: "Tell a task something it did not ask",
    run: `tutti message "$(tutti tasks -n 1 --state state | grep -o -m 1 'tsk_[a-z0-9_]*')" "No hurry." --state state`,
  },
  {
    command: "cancel",
    about: "Cancel a tree",
    run: `tutti cancel "$(tutti tasks -n 1 --state state | grep -o -m 1 'tsk_[a-z0-9_]*')" --reason "no party" --state state`,
  },
  {
    command: "pause",
    about: "Begin nothing new for a while",
    run: "tutti pause --state state",
  },
  {
    command: "resume",
    about: "Go on",
    run: "tutti resume --state state",
  },
  {
    command: "keys list",
    about: "Who may talk to the daemon?",
    run: "tutti keys list --state state",
  },
  {
    command: "keys add",
    about: "Let a script look, and nothing else",
    run: "tutti keys add metrics --role viewer --state state",
  },
  {
    command: "keys revoke",
    about: "Take a key back",
    run: `tutti keys revoke "$(tutti keys list --state state | grep metrics | cut -d ' ' -f 1)" --state state`,
  },
  {
    command: "operators",
    about: "Who has joined to gate, to answer and to do work?",
    run: "tutti operators --state state",
  },
  {
    command: "down",
    about: "Stop the daemon; what is under way goes on at the next start",
    run: "tutti down --state state",
  },
  {
    command: "parse toolcalls",
    about: "What does this reply call?",
    run: "tutti parse toolcalls examples/reply.txt",
  },
  {
    command: "parse toolcalls",
    about: "A thousand replies at once, as JSON lines",
    run: `echo '{"id":1,"input":"{\\"name\\":\\"ls\\",\\"args\\":{}}","tools":["ls"]}' | tutti parse toolcalls --jsonl`,
  },
  {
    command: "parse decision",
    about: "What did the manager decide?",
    run: "tutti parse decision examples/decision.txt",
  },
  {
    command: "route",
    about: "Which model gets this task, and why?",
    run: "tutti route examples/handoff.toon --policy examples/policy.toon",
  },
  {
    command: "token mint",
    about: "Give a worker the right to fetch one prompt and post one result, for ten minutes",
    run: "tutti token mint --key key.bin --task tsk_1 --verbs prompt,result --ttl 600",
  },
  {
    command: "token verify",
    about: "Check such a token",
    run: "tutti token mint --key key.bin --task tsk_1 --verbs prompt,result | tutti token verify --key key.bin --verb result --task tsk_1",
  },
];

export const exitStatuses = `Exit status: 0 answered, 1 a fault of ours, 2 called the wrong way, 3 the input is not valid,
4 not found, 5 refused or expired, 6 reading or writing failed, 7 in use or in conflict with what is there,
8 the task did not succeed, 130 left by Ctrl-C or a signal; what was under way is kept.`;
