// An example of each command, shown in help and run by the tests, and the meaning of the exit statuses.

interface Example {
  /** The command without `tutti`, such as `agents run`. */
  readonly command: string;
  readonly about: string;
  /** A line for a POSIX shell, run from the root of the clone. */
  readonly run: string;
}

export const examples: readonly Example[] = [
  {
    command: "version",
    about: "Print the version",
    run: "tutti version",
  },
  {
    command: "completion",
    about:
      "Complete commands, options, tasks and agents with Tab; in bash, put `source <(tutti completion bash)` into ~/.bashrc",
    run: "tutti completion bash",
  },
  {
    command: "init",
    about: "See what Tutti finds in a project and would write for it",
    run: "tutti init --dry-run --cwd examples/project --state state",
  },
  {
    command: "agents run",
    about: "Run an agent that calls another one; the replies come from a script, so no model is needed",
    run: 'tutti agents run lead "What is this?" --cwd examples/project --script examples/project/script.json --state state',
  },
  {
    command: "agents list",
    about: "List the agents of a project",
    run: "tutti agents list --cwd examples/project",
  },
  {
    command: "agents show",
    about: "Show the tools, the model and the instructions of an agent",
    run: "tutti agents show lead --cwd examples/project",
  },
  {
    command: "agents check",
    about: "Check the agent definitions for mistakes",
    run: "tutti agents check --cwd examples/project",
  },
  {
    command: "agents new",
    about: "Write a new agent definition to start from",
    run: "tutti agents new reviewer --cwd .",
  },
  {
    command: "models",
    about: "List the models you can use, with prices",
    run: "tutti models --offline",
  },
  {
    command: "models test",
    about: "See what a test of a model shows; with the name of a real model, it is called, and it costs a few cents",
    run: "tutti models test rehearsal/script --state state",
  },
  {
    command: "models add",
    about:
      "See what a server with models on this machine would add to your config; without the last options, it is asked",
    run: "tutti models add http://127.0.0.1:8080/v1 --model qwen3-coder --offline --dry-run --state state",
  },
  {
    command: "models login",
    about:
      "Keep the key of a provider in the state folder, from a file or a password manager; without a pipe, you are asked",
    run: "echo a-key | tutti models login openrouter --state state",
  },
  {
    command: "models logout",
    about: "Remove that key",
    run: "tutti models logout openrouter --state state",
  },
  {
    command: "runners",
    about: "List the kinds of runner that a task can have",
    run: "tutti runners",
  },
  {
    command: "trust",
    about: "What would the config of a project be allowed to do?",
    run: "tutti trust examples/project --show --state state",
  },
  {
    command: "doctor",
    about: "Check that everything Tutti needs is there",
    run: "tutti doctor",
  },
  {
    command: "invoke",
    about: "Run an invocation; if it is stopped or killed, the same command goes on with it",
    run: "tutti invoke examples/invocations/single.json --state state",
  },
  {
    command: "tasks",
    about: "List the task trees, how each stands and whom it waits for",
    run: "tutti tasks --state state",
  },
  {
    command: "show",
    about: "Show the newest tree: what it did, what it cost, and its result",
    run: "tutti show last --state state",
  },
  {
    command: "transcript",
    about: "Print the conversation of the newest tree",
    run: "tutti transcript last --state state",
  },
  {
    command: "attach",
    about: "Follow the newest tree live, from its last 5 messages; Ctrl-C leaves, and the run goes on",
    run: "tutti attach last --last 5 --state state",
  },
  {
    command: "logs",
    about: "Print the last events of the newest tree; -f also prints new ones as they happen",
    run: "tutti logs last -n 20 --state state",
  },
  {
    command: "import",
    about: "Move a state folder into a PostgreSQL that several machines share",
    run: 'tutti import old-state --database postgres://tutti@db.example/tutti || echo "there is no such folder"',
  },
  {
    command: "export",
    about: "Export the newest tree as JSON lines, for a backup or another program",
    run: "tutti export last --state state",
  },
  {
    command: "prune",
    about: "Remove trees that ended more than 30 days ago",
    run: "tutti prune --older 30d --state state",
  },
  {
    command: "up",
    about: "Start the daemon in the background; without --detach it runs here until Ctrl-C",
    run: "tutti up --detach --state state",
  },
  {
    command: "status",
    about: "Show whether the daemon runs, and how many tasks are unfinished",
    run: "tutti status --state state",
  },
  {
    command: "run",
    about: "Hand a goal to the manager; a script plays the models, and the check is run for real",
    run: 'mkdir -p hello && tutti run "Say hello" --cwd hello --script examples/goal.json --check "test -e hello.txt" --yes --state state',
  },
  {
    command: "goals",
    about: "List the goals and how each stands",
    run: "tutti goals --state state",
  },
  {
    command: "goal",
    about: "Show the newest goal: what proves each criterion, who did each task",
    run: "tutti goal last --state state",
  },
  {
    command: "report",
    about: "Print the report of a goal as Markdown",
    run: "tutti report last --state state",
  },
  {
    command: "invoke",
    about: "Give the daemon an invocation and return at once",
    run: "tutti invoke examples/invocations/ask.json --detach --state state",
  },
  {
    command: "asks",
    about: "List the questions that wait for an answer",
    run: "tutti asks --state state",
  },
  {
    command: "answer",
    about: "Answer the first question",
    run: `tutti answer "$(tutti asks --state state | grep -o -m 1 'ask_[a-z0-9_]*')" red --state state`,
  },
  {
    command: "approvals list",
    about: "List what you allowed for good",
    run: "tutti approvals list --state state",
  },
  {
    command: "approvals revoke",
    about: "Revoke everything that you allowed for good",
    run: "tutti approvals revoke --all --state state",
  },
  {
    command: "message",
    about: "Send a message to a running task",
    run: 'tutti message last "No hurry." --state state',
  },
  {
    command: "sessions",
    about: "See what every session is doing",
    run: "tutti sessions --state state",
  },
  {
    command: "observe",
    about: "See what one session is doing, with its last three events",
    run: "tutti observe last --recent 3 --state state",
  },
  {
    command: "stop",
    about: "Stop a task; `tutti resume last` would go on",
    run: 'tutti stop last --reason "lunch" --state state',
  },
  {
    command: "cancel",
    about: "Cancel a task and all tasks below it",
    run: 'tutti cancel last --reason "no party" --state state',
  },
  {
    command: "kill",
    about: "End a task at once, and remove its workspace; its work stays on its branch",
    run: 'tutti kill last --reason "wrong folder" --state state',
  },
  {
    command: "retry",
    about: "Do the work of a task that is over again",
    run: "tutti retry last --state state",
  },
  {
    command: "workspaces",
    about: "List the folders in which sessions work",
    run: "tutti workspaces --state state",
  },
  {
    command: "workspaces prune",
    about: "What would be removed, so that nothing older than a week stays and all take at most 10 GiB?",
    run: "tutti workspaces prune --older-than 7d --max-size 10G --dry-run --state state",
  },
  {
    command: "workspaces remove",
    about: "Remove one of them, and keep its uncommitted work in the repository",
    run: 'tutti workspaces remove wsp_1-1 --save --state state || echo "there is no such workspace"',
  },
  {
    command: "diff",
    about: "Look at the work of the newest tree",
    run: 'tutti diff last --stat --state state || echo "it has no workspace"',
  },
  {
    command: "open",
    about: "Start an editor where the work is",
    run: 'tutti open last --editor vi --state state || echo "it has no workspace"',
  },
  {
    command: "integrate",
    about: "Merge the work of all sessions of the newest tree into one branch",
    run: 'tutti integrate last --state state || echo "it has no workspace"',
  },
  {
    command: "merge",
    about: "Merge the work into the branch `next`",
    run: 'tutti merge last next --unverified --state state || echo "it has no workspace"',
  },
  {
    command: "pr",
    about: "Push the branch and open a pull request; you are asked first",
    run: 'tutti pr last --base main --state state || echo "it has no workspace"',
  },
  {
    command: "pause",
    about: "Pause: running steps finish, no new work begins",
    run: "tutti pause --state state",
  },
  {
    command: "resume",
    about: "Resume after a pause",
    run: "tutti resume --state state",
  },
  {
    command: "invoke",
    about: "Run an invocation every working day at nine; the daemon does it, and is started if need be",
    run: 'tutti invoke examples/invocations/single.json --every "0 9 * * mon-fri" --state state',
  },
  {
    command: "schedules",
    about: "List what is scheduled, and when it runs next",
    run: "tutti schedules --state state",
  },
  {
    command: "schedules remove",
    about: "End the newest schedule",
    run: "tutti schedules remove last --state state",
  },
  {
    command: "keys list",
    about: "List the API keys of the daemon",
    run: "tutti keys list --state state",
  },
  {
    command: "keys add",
    about: "Make a key for a script that only reads",
    run: "tutti keys add metrics --role viewer --state state",
  },
  {
    command: "keys revoke",
    about: "Revoke that key",
    run: `tutti keys revoke "$(tutti keys list --state state | grep metrics | cut -d ' ' -f 1)" --state state`,
  },
  {
    command: "nodes",
    about: "List the nodes that share a database; here it is the one daemon",
    run: "tutti nodes --state state",
  },
  {
    command: "operators",
    about: "List the operators that have joined",
    run: "tutti operators --state state",
  },
  {
    command: "mcp",
    about: "Ask the MCP server whether it is there; usually an MCP client starts it",
    run: `echo '{"jsonrpc":"2.0","id":1,"method":"ping"}' | tutti mcp --state state`,
  },
  {
    command: "mcp list",
    about: "List the MCP servers of a project, and whether they are trusted",
    run: "tutti mcp list --cwd examples/project --state state",
  },
  {
    command: "mcp login",
    about: "List the MCP servers that one can log in to; with a name, log in",
    run: "tutti mcp login --cwd examples/project --state state",
  },
  {
    command: "mcp logout",
    about: "Forget all logins at MCP servers of a project",
    run: "tutti mcp logout --cwd examples/project --state state",
  },
  {
    command: "context add",
    about: "Name a daemon on another machine; its API key is piped in here, otherwise you are asked for it",
    run: "echo tk_a-key | tutti context add work --url https://tutti.example:7878",
  },
  {
    command: "context list",
    about: "List the daemons that have a name",
    run: "tutti context list",
  },
  {
    command: "context use",
    about: "Work with that daemon; `local` goes back to this machine",
    run: "tutti context use work",
  },
  {
    command: "context remove",
    about: "Forget that daemon and its key",
    run: "tutti context remove work",
  },
  {
    command: "chat",
    about: "Talk with the manager; the replies come from a script, so no model is needed",
    run: 'tutti chat "What is going on?" --script examples/chat-script.json --state state',
  },
  {
    command: "threads",
    about: "List the conversations that go on after their tasks",
    run: "tutti threads --state state",
  },
  {
    command: "threads show",
    about: "Print what was said last, in a thread that an agent or the manager answers in",
    run: "tutti threads show last --state state",
  },
  {
    command: "threads fork",
    about: "Copy a thread, so that two conversations go on from there",
    run: "tutti threads fork last --name second-try --state state",
  },
  {
    command: "down",
    about: "Stop the daemon; unfinished tasks go on at the next start",
    run: "tutti down --state state",
  },
  {
    command: "parse toolcalls",
    about: "Find the tool calls in a model's reply",
    run: "tutti parse toolcalls examples/reply.txt",
  },
  {
    command: "parse toolcalls",
    about: "Parse many replies at once, one JSON object per line",
    run: `echo '{"id":1,"input":"{\\"name\\":\\"ls\\",\\"args\\":{}}","tools":["ls"]}' | tutti parse toolcalls --jsonl`,
  },
  {
    command: "parse decision",
    about: "Read the decision in a manager's reply",
    run: "tutti parse decision examples/decision.txt",
  },
  {
    command: "route",
    about: "Find out which model gets a task, and why",
    run: "tutti route examples/handoff.toon --policy examples/policy.toon",
  },
  {
    command: "policy review",
    about: "Find out what a review decides, and why",
    run: "tutti policy review examples/review.toon --policy examples/policy.toon",
  },
  {
    command: "policy check",
    about: "Find out whether a policy can be used here",
    run: "tutti policy check --cwd examples/project --state state",
  },
  {
    command: "policy explain",
    about: "Find out which model a task would go to, and who has which role",
    run: 'tutti policy explain "Implement the parser" --cwd examples/project --state state',
  },
  {
    command: "policy init",
    about: "Print a policy to start from",
    run: "tutti policy init",
  },
  {
    command: "cluster-key rotate",
    about: "Give the cluster another key, when every node has it",
    run: 'tutti cluster-key rotate --state node || echo "this folder is not that of a node"',
  },
  {
    command: "cluster-key set",
    about: "Give this node the key of its cluster",
    run: "openssl rand -hex 32 | tutti cluster-key set --state node",
  },
  {
    command: "cluster-key show",
    about: "Print the key for another node",
    run: "tutti cluster-key show --state node",
  },
  {
    command: "token mint",
    about: "Make a token that lets a worker fetch its prompt and post its result, for ten minutes",
    run: "tutti token mint --key key.bin --task tsk_1 --verbs prompt,result --ttl 600",
  },
  {
    command: "token verify",
    about: "Check such a token",
    run: "tutti token mint --key key.bin --task tsk_1 --verbs prompt,result | tutti token verify --key key.bin --verb result --task tsk_1",
  },
];

export const exitStatuses = `Exit status: 0 success, 1 internal error, 2 wrong usage, 3 invalid input,
4 not found, 5 refused or expired, 6 reading or writing failed, 7 in use,
too late or in conflict, 8 the task failed or was canceled, 9 an answer is
needed and was left open, 130 ended by Ctrl-C or a signal; unfinished work
is kept.`;
