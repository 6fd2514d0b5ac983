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
8 the task did not succeed.`;
