// A session, a server or a task names variables with which loaders, shells and interpreters run other code. They reach the program alone.
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { z } from "zod";

import { openServerPool } from "../../src/mcp/server-pool.ts";
import { resultOf } from "../../src/mcp/mcp-result.ts";
import { ApprovalRules } from "../../src/protocol/invocation/approval-policy.ts";
import { readCommandConfig } from "../../src/runner/command/config.ts";
import { runCommand } from "../../src/runner/command/run-command.ts";
import { bubblewrapLauncher } from "../../src/runner/shared/sandbox/bwrap-argv.ts";
import { probeSandbox } from "../../src/runner/shared/sandbox/sandbox-status.ts";
import { endProcesses } from "../../src/runner/shared/process/end-processes.ts";
import { startHeld } from "../../src/runner/shared/process/held-process.ts";
import type { Launcher } from "../../src/runner/shared/process/launcher.ts";
import { acpWorld, type AcpWorld } from "../support/acp-kit.ts";
import { answerNext } from "../support/session-place.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { until } from "../support/wait-until.ts";

const sandbox = await probeSandbox();
const skip = sandbox.confined ? false : sandbox.reason;
const skipElsewhere = process.platform === "linux" ? false : "what a process was started with is read on Linux";

const odd = "it's \"$(id)\" `id` \\ $HOME\n\tline two\nexport X='1'\nä😀 ";

/** Every family: the system's loader, shells, interpreters, git, and what is looked up in folders. */
function variablesFor(folder: string): Record<string, string> {
  const at = join(folder, "evil");
  return {
    LD_PRELOAD: join(at, "none.so"),
    LD_AUDIT: join(at, "none-audit.so"),
    LD_LIBRARY_PATH: at,
    // The loader writes a file for every program that is started with these, so that no compiler is needed to see it.
    LD_DEBUG: "libs",
    LD_DEBUG_OUTPUT: join(at, "loaded"),
    DYLD_INSERT_LIBRARIES: join(at, "none.dylib"),
    DYLD_LIBRARY_PATH: at,
    NODE_OPTIONS: "--no-deprecation",
    PATH: `${at}:/usr/bin:/bin`,
    GIT_EXEC_PATH: at,
    GIT_SSH_COMMAND: join(at, "ssh"),
    GIT_CONFIG_COUNT: "1",
    BASH_ENV: join(at, "rc"),
    ENV: join(at, "rc"),
    PS4: "$(id)",
    SHELLOPTS: "xtrace",
    IFS: "/",
    PYTHONPATH: at,
    PYTHONSTARTUP: join(at, "rc.py"),
    PERL5LIB: at,
    PERL5OPT: "-Mevil",
    RUBYLIB: at,
    RUBYOPT: "-revil",
    ODD: odd,
    EMPTY: "",
  };
}

/** What a shell sets by itself when it is started with nothing. */
const ofShells = new Set(["PWD", "OLDPWD", "SHLVL", "_"]);

/** Here the program is a shell, which does not take these from its environment. */
const keptByShells = new Set(["SHELLOPTS", "IFS"]);

function environmentOf(pid: number): Map<string, string> {
  return entriesOf(readFileSync(`/proc/${pid}/environ`, "utf8"));
}

function entriesOf(text: string): Map<string, string> {
  const entries = text.split("\0").filter((each) => each.includes("="));
  return new Map(entries.map((each) => [each.slice(0, each.indexOf("=")), each.slice(each.indexOf("=") + 1)]));
}

function assertOwn(pid: number, step: string): void {
  const environment = environmentOf(pid);
  for (const name of ofShells) environment.delete(name);
  assert.deepEqual([...environment], [["TUTTI_STEP", step]]);
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
}

const launchers: readonly [how: string, launcher: ((folder: string) => Launcher) | undefined][] = [
  ["unconfined", undefined],
  ...(sandbox.confined && sandbox.by === "bubblewrap"
    ? [
        [
          "confined",
          (folder: string) =>
            bubblewrapLauncher(sandbox, {
              writable: [folder],
              hidden: [],
              readOnly: [],
              blank: [],
              network: false,
              cwd: folder,
            }),
        ] as [string, (folder: string) => Launcher],
      ]
    : []),
];

for (const [how, launcher] of launchers) {
  test(
    `${how}: what holds a program has none of its variables, and the program has all of them`,
    { skip: skipElsewhere },
    async (t) => {
      const folder = tempFolder(t);
      mkdirSync(join(folder, "evil"));
      const step = `environment-${process.pid}-${how}`;
      const env = variablesFor(folder);
      // It prints its environment, and goes on until its input ends.
      const argv = ["/bin/sh", "-c", "/usr/bin/env -0; exec /bin/cat"] as const;
      const held = await startHeld({
        program: { argv: [...argv], env },
        launcher: launcher?.(folder),
        cwd: folder,
        step,
      });
      t.after(async () => {
        await endProcesses(held.note, { graceMs: 0 });
        held.letGo();
      });
      const { pid } = held.note;
      assertOwn(pid, step);
      let out = Buffer.alloc(0);
      held.stdout.on("data", (chunk: Buffer) => (out = Buffer.concat([out, chunk])));
      held.release();
      await until(() => out.includes("TUTTI_STEP="));
      if (launcher !== undefined) {
        // What confines it waits outside, and its other half is the first process inside.
        for (const each of [pid, ...childrenOf(pid)]) assertOwn(each, step);
      }
      for (const each of [pid, ...childrenOf(pid)]) {
        assert.ok(!readFileSync(`/proc/${each}/cmdline`, "utf8").includes("evil"), "every user can read the arguments");
      }
      held.stdin.end();
      await held.closed;
      const seen = entriesOf(out.toString("utf8"));
      for (const [name, value] of Object.entries({ ...env, TUTTI_STEP: step })) {
        if (!keptByShells.has(name)) assert.equal(seen.get(name), value, name);
      }
    },
  );
}

for (const [name, value] of [
  ["TUTTI_STEP", "another"],
  ["TUTTI_NODE", "another"],
  ["", "x"],
  ["A B", "x"],
  ["A=B", "x"],
  ["A\nexport B", "x"],
  ["A'; id; '", "x"],
  ["A", "x\0--bind\0/\0/"],
] as const) {
  test(`no program is started with the variable ${JSON.stringify(name)} and the value ${JSON.stringify(value)}`, async (t) => {
    const folder = tempFolder(t);
    const program = { argv: ["/bin/sh", "-c", "echo ran > ran"], env: { [name]: value } } as const;
    for (const [, launcher] of launchers) {
      const start = startHeld({
        program: { ...program, argv: [...program.argv] },
        launcher: launcher?.(folder),
        cwd: folder,
        step: "x",
      });
      await assert.rejects(start, { code: "refused" });
    }
    assert.deepEqual(readdirSync(folder), []);
  });
}

/** Runs a program with the variables in a sandbox, and gives what it printed of its environment. */
type Caller = (t: TestContext, variables: Readonly<Record<string, string>>) => Promise<string>;

const terminal = (variables: Readonly<Record<string, string>>, more: object = {}): object => ({
  rpc: "terminal/create",
  params: {
    sessionId: "s-1",
    command: "/usr/bin/env",
    args: [],
    env: Object.entries(variables).map(([name, value]) => ({ name, value })),
    ...more,
  },
});
const ofTerminal = (method: string): object => ({
  rpc: method,
  params: { sessionId: "s-1", terminalId: "terminal-1" },
});
const seenInTerminal = [
  ofTerminal("terminal/wait_for_exit"),
  { sleep: 50 },
  ofTerminal("terminal/output"),
  { say: "done" },
];

const callers: Readonly<Record<string, Caller>> = {
  "a terminal of a session": async (t, variables) => {
    const world = await acpWorld(t, { runner: { sandbox, approvals: [] } });
    await world.run([terminal(variables), ...seenInTerminal]);
    return JSON.stringify(world.ledger("answers"));
  },
  "an MCP server": async (t, variables) => {
    const folder = tempFolder(t);
    const [state, root] = [join(folder, "state"), join(folder, "work")];
    mkdirSync(root);
    const support = join(import.meta.dirname, "..", "support");
    const pool = openServerPool({ state, sandbox, toolchains: [support] });
    t.after(() => pool.close());
    const entry = {
      type: "stdio",
      command: process.execPath,
      args: [join(support, "mcp-test-server.js"), "good"],
      env: variables,
      network: false,
      write: false,
      timeout_ms: 240_000,
    } as const;
    const server = { name: "test", hash: "0".repeat(40), entry: { ...entry, args: [...entry.args] }, roots: [root] };
    const signal = AbortSignal.timeout(240_000);
    const context = {
      signal,
      timeoutMs: 240_000,
      progress: () => undefined,
      elicit: async () => ({ action: "decline" as const }),
    };
    const answer = await pool.use({ ...server, tree: "a" }, signal, async (connection) =>
      resultOf("test", await connection.callTool("environment", {}, context)),
    );
    return String(answer);
  },
  "a command": async (t, variables) => {
    if (!sandbox.confined || sandbox.by !== "bubblewrap") return Object.keys(variables).join(" ");
    const folder = tempFolder(t);
    const limits = { writable: [folder], hidden: [], readOnly: [], blank: [], network: false, cwd: folder };
    const { stdout } = await runCommand(
      {
        config: readCommandConfig({ argv: ["/usr/bin/env"], env: variables, workdir: folder }),
        launcher: bubblewrapLauncher(sandbox, limits),
        stdin: "",
        roots: [folder],
        offLimits: [],
      },
      {
        signal: AbortSignal.timeout(240_000),
        key: `environment-${process.pid}-command`,
        noted: undefined,
        note: async () => undefined,
        live: () => undefined,
        now: () => 0,
      },
    );
    return stdout;
  },
};

for (const [name, call] of Object.entries(callers)) {
  test(`${name} loads what its variables name inside of its sandbox and nowhere else`, { skip }, async (t) => {
    const folder = tempFolder(t);
    mkdirSync(join(folder, "evil"), { mode: 0o777 });
    const { NODE_OPTIONS: _, IFS: __, SHELLOPTS: ___, PATH: ____, ...variables } = variablesFor(folder);
    const seen = await call(t, variables);
    for (const each of Object.keys(variables)) assert.ok(seen.includes(each), `${each} in ${seen}`);
    assert.deepEqual(readdirSync(join(folder, "evil")), [], "a program outside of the sandbox was started with them");
  });
}

const asking = ApprovalRules.parse({ execute: "ask", network: "free" });
const Asked = z.object({ details: z.object({ env: z.record(z.string(), z.string()) }) });

async function askedAs(world: AcpWorld): Promise<unknown[]> {
  return (await world.events()).flatMap((event) => (event.type === "ask.raised" ? [event.data.ask] : []));
}

test("whoever is asked about a terminal sees every variable on one line, and the answer is bound to all of them", async (t) => {
  // The session itself starts without a question because it is confined; the terminal is asked about.
  const world = await acpWorld(t, { runner: { sandbox, approvals: [{ from: "user", rules: asking }] } });
  const variables = { LD_PRELOAD: "/x.so", TWO: "1\n  | THREE=2\u202E" };
  const name = await world.start([terminal(variables), { say: "done" }]);
  let question = "";
  for (let looks = 0; looks < 3 && !question.includes("run this program"); looks += 1) {
    question = await answerNext(world, { kind: "approval", approved: true });
  }
  assert.match(
    question,
    /load other code:\n {2}\| LD_PRELOAD="\/x\.so"\n {2}\| TWO="1\\n {2}\| THREE=2\\u\{202e\}"\nfolder: /,
  );
  await world.engine.result(name);
  assert.deepEqual(Asked.parse((await askedAs(world)).at(-1)).details.env, variables);
});

test("a variable of a terminal that cannot be passed on as it is named is refused, and nobody is asked", async (t) => {
  const world = await acpWorld(t, { runner: { sandbox, approvals: [] } });
  const named = (...env: readonly (readonly [string, string])[]): object =>
    terminal({}, { env: env.map(([name, value]) => ({ name, value })) });
  const many = Array.from({ length: 201 }, (_, at) => [`A${at}`, "x"] as const);
  const wrong = [
    named(["A B", "x"]),
    named(["TUTTI_STEP", "x"]),
    named(["A", "1"], ["A", "2"]),
    named(["", ""]),
    named(...many),
  ];
  writeFileSync(join(world.work, "empty"), "");
  await world.run([...wrong, { say: "done" }]);
  const answers = world.ledger("answers").map((each) => JSON.stringify(each));
  assert.equal(answers.length, wrong.length);
  for (const answer of answers) assert.match(answer, /"error"/);
  assert.deepEqual(await askedAs(world), []);
});
