// `tutti invoke` as a real process: its output, its exit status, and what is left when it is stopped or killed.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import { z } from "zod";

import { ListedTask } from "../../protocol/api/task-shapes.ts";
import { TaskSummary } from "../../protocol/task/task-view.ts";
import { bench, type Bench } from "../../../test/support/cli-process.ts";

const bin = join(import.meta.dirname, "..", "..", "..", "bin", "tutti.js");
const Printed = z.object({ task: z.string(), status: z.string(), result: z.unknown(), rehearsal: z.boolean() });
const example = (name: string): string => join("examples", "invocations", `${name}.json`);
const roots = (b: Bench): ListedTask[] => z.array(ListedTask).parse(JSON.parse(b.run("tasks", "--json").out));

function message(text: string): unknown {
  return { role: "user", parts: [{ part_type: "text", data: text }] };
}

/** Every target is a shell command that leaves a line in the ledger when it begins. */
function commands(b: Bench, scripts: Readonly<Record<string, string>>): unknown {
  const ledger = join(b.folder, "ledger");
  return {
    invocation: {
      targets: Object.entries(scripts).map(([name, script]) => ({
        agent: { type: "named", agent_id: "worker" },
        message: message(name),
        executor: {
          kind: "force",
          type: "remote",
          runner: { kind: "command", config: { shell: `echo ${name} >> '${ledger}'; ${script}` } },
        },
      })),
      join: "all",
    },
    agents: { worker: { instructions: "works" } },
    roots: [b.folder],
  };
}

const ledgerOf = (b: Bench): string[] => readFileSync(join(b.folder, "ledger"), "utf8").trim().split("\n").toSorted();

describe("every example runs", () => {
  const wanted = [
    { name: "single", status: 0, says: /✓ tsk_\w+ hello\.txt is written\./ },
    {
      name: "all",
      status: 8,
      says: /North: snow\.\n.*South: quiet\.\n.*Plains\.\n✗ .* that part of the map is missing/,
    },
    { name: "handover", status: 0, says: /✓ tsk_\w+ The lamp works again\./ },
    { name: "detached", status: 0, says: /✓ tsk_\w+ one is done\.\n✓ tsk_\w+ two is done\./ },
    { name: "supervise", status: 0, says: /✓ tsk_\w+ The checker says: All is well/ },
    { name: "command", status: 0, says: /"stdout":"3\\n"/ },
  ];
  for (const { name, status, says } of wanted) {
    test(`${name}.json`, (t) => {
      const b = bench(t);
      const ended = b.run("invoke", example(name));
      assert.equal(ended.status, status, ended.err);
      assert.match(ended.out, says);
      assert.match(ended.err, /task\.created/, "progress goes to standard error");
      assert.equal(/a rehearsal: the replies came from a script/.test(ended.err), name !== "command");
      if (name === "single") {
        const files = readdirSync(b.folder, { recursive: true, encoding: "utf8" });
        assert.ok(files.some((file) => file.endsWith("hello.txt")));
      }
    });
  }

  test("every example is tried here; those that need an answer are tried on a terminal", () => {
    const files = readdirSync(join(import.meta.dirname, "..", "..", "..", "examples", "invocations"));
    const tried = [...wanted.map(({ name }) => name), "ask", "external"].map((name) => `${name}.json`);
    assert.deepEqual(files.toSorted(), tried.toSorted());
  });
});

describe("output", () => {
  test("--json prints one object and nothing else; --quiet prints the result and nothing else", (t) => {
    const b = bench(t);
    const json = b.run("invoke", "--json", example("all"));
    assert.deepEqual([json.status, json.err], [8, ""]);
    const printed = Printed.parse(JSON.parse(json.out));
    assert.deepEqual([printed.status, printed.rehearsal], ["completed", true]);
    const quiet = b.run("invoke", "--quiet", example("single"));
    assert.deepEqual([quiet.status, quiet.err], [0, ""]);
    assert.match(quiet.out, /^✓ tsk_\w+ hello\.txt is written\.\n$/);
  });

  test("an unknown field of the file gives a warning, and the invocation runs", (t) => {
    const b = bench(t);
    const file = z
      .record(z.string(), z.unknown())
      .parse(JSON.parse(readFileSync(join(b.folder, example("single")), "utf8")));
    const invocation = z.record(z.string(), z.unknown()).parse(file["invocation"]);
    const ended = b.run("invoke", b.file("odd.json", { ...file, invocation: { ...invocation, colour: "blue" } }));
    assert.equal(ended.status, 0, ended.err);
    assert.match(ended.err, /^warning: .*colour/m);
  });

  test("results are printed without codes that move the cursor or change the title", (t) => {
    const b = bench(t);
    const ended = b.run(
      "invoke",
      b.file("codes.json", {
        invocation: { targets: [{ agent: { type: "named", agent_id: "a" }, message: message("go") }] },
        agents: { a: { instructions: "a" } },
        script: { rules: [{ final: "be\u001b]0;title\u0007fore\u001b[2Jafter" }] },
      }),
    );
    assert.equal(ended.status, 0, ended.err);
    assert.ok(!`${ended.out}${ended.err}`.includes("\u001b"));
  });
});

describe("a file that cannot be used", () => {
  test("gives status 3 and the place of the mistake, a missing one status 4, and starts nothing", (t) => {
    const b = bench(t);
    const bad = b.run("invoke", b.file("bad.json", { invocation: { targets: [{ agent: { type: "named" } }] } }));
    assert.equal(bad.status, 3);
    assert.match(bad.err, /^tutti: .*invocation\.targets\[0\]\.message: .*\n$/);
    const noJson = b.run("invoke", "examples/reply.txt");
    assert.deepEqual([noJson.status, noJson.err.split("\n").length], [3, 2]);
    const none = b.run("invoke", "nowhere.json");
    assert.deepEqual([none.status, none.err], [4, "tutti: there is no file nowhere.json\n"]);
    assert.deepEqual(roots(b), []);
  });
});

describe("an invocation that cannot work", () => {
  const target = (agent_id: string, more: object = {}): object => ({
    agent: { type: "named", agent_id },
    message: message("go"),
    ...more,
  });
  const remote = (runner: object): object => ({ executor: { kind: "force", type: "remote", runner } });
  const agents = { a: { instructions: "Work." } };
  const script = { rules: [{ say: "done" }] };
  const cases: Record<string, { readonly file: object; readonly says: RegExp }> = {
    "no targets": { file: { invocation: { targets: [] }, agents, script }, says: /target/ },
    "two targets and a single join": {
      file: { invocation: { targets: [target("a"), target("a")] }, agents, script },
      says: /exactly/,
    },
    "an unknown agent": {
      file: { invocation: { targets: [target("ghost")] }, agents, script },
      says: /no agent ghost/,
    },
    "an unknown runner": {
      file: { invocation: { targets: [target("a", remote({ kind: "ssh" }))] }, agents, script },
      says: /ssh/,
    },
    "an unknown field in a command": {
      file: {
        invocation: { targets: [target("a", remote({ kind: "command", config: { argv: ["true"], wibble: 1 } }))] },
        agents,
      },
      says: /wibble/,
    },
    "a rehearsal without a script": { file: { invocation: { targets: [target("a")] }, agents }, says: /no script/ },
  };
  for (const [name, { file, says }] of Object.entries(cases)) {
    test(`${name}: gives status 3 and makes no task`, (t) => {
      const b = bench(t);
      const { status, err } = b.run("invoke", b.file("wrong.json", file));
      assert.equal(status, 3, err);
      assert.match(err, says);
      assert.deepEqual(roots(b), []);
    });
  }
});

describe("the state folder", () => {
  test("has files that only their owner can read, even if others can read the folder", (t) => {
    const b = bench(t);
    mkdirSync(b.state, { mode: 0o755 });
    assert.equal(b.run("invoke", "--quiet", example("single")).status, 0);
    const files = readdirSync(b.state);
    assert.ok(files.includes("tutti.db"));
    for (const file of files) assert.equal(statSync(join(b.state, file)).mode & 0o077, 0, file);
  });

  test("takes the same file as another invocation when it is run in another folder", (t) => {
    const b = bench(t);
    const rules = [{ turn: 0, call: [{ tool: "write", args: { path: "here.txt", content: "x" } }] }, { say: "done" }];
    b.file("here.json", {
      invocation: { targets: [{ agent: { type: "named", agent_id: "a" }, message: message("go") }] },
      agents: { a: { instructions: "Work." } },
      roots: ["."],
      script: { rules },
    });
    for (const name of ["x", "y"]) {
      const cwd = join(b.folder, name);
      mkdirSync(cwd);
      const args = [bin, "invoke", "../here.json", "--quiet", "--state", b.state];
      assert.equal(spawnSync(process.execPath, args, { cwd, timeout: 240_000 }).status, 0);
      assert.deepEqual(readdirSync(cwd), ["here.txt"]);
    }
  });
});

describe("after an interruption", () => {
  test("the same file goes on with an unfinished run; after a finished one, or with --new, it starts another", async (t) => {
    const b = bench(t);
    b.run("invoke", "--quiet", example("single"));
    b.run("invoke", "--quiet", example("single"));
    assert.equal(roots(b).length, 2);
    for (const [args, count] of [
      [[], 3],
      [[], 3],
      [["--new"], 4],
    ] as const) {
      const asking = b.start("invoke", "--wait", ...args, example("ask"));
      await asking.said(/waiting for an answer to ask_\w+; answer it with `tutti answer/);
      asking.child.kill("SIGINT");
      await asking.ended;
      assert.equal(roots(b).length, count);
    }
  });

  test("invariant 3: a run that was killed goes on where it was, and no command runs twice", async (t) => {
    const b = bench(t);
    const names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
    // The last ones outlive by far the moment in which the fifth has ended.
    const took = (index: number): string => (index < 4 ? "true" : index < 8 ? "sleep 0.4" : "sleep 2");
    const scripts = Object.fromEntries(names.map((name, index) => [name, took(index)]));
    const file = b.file("many.json", commands(b, scripts));
    const first = b.start("invoke", file);
    await first.said(/task\.completed(?:[^]*task\.completed){4}/);
    first.child.kill("SIGKILL");
    assert.equal((await first.ended).status, null);
    const again = b.run("invoke", file);
    assert.match(again.err, /going on with tsk_\w+, which was not finished; --new starts another/);
    assert.equal(roots(b).length, 1);
    assert.deepEqual(ledgerOf(b), names);
    const marks = again.out
      .trim()
      .split("\n")
      .map((line) => line.slice(0, 1));
    assert.equal(marks.length, names.length);
    assert.deepEqual(marks.slice(0, 4), ["✓", "✓", "✓", "✓"]);
    // One that was under way may or may not have happened: that is said, and it is not done a second time.
    if (marks.includes("✗")) assert.match(again.out, /it is not done a second time/);
    assert.equal(again.status, marks.includes("✗") ? 8 : 0);
  });

  test("Ctrl-C cancels nothing, gives status 130 and says how to go on", async (t) => {
    const b = bench(t);
    const asking = b.start("invoke", "--wait", example("ask"));
    await asking.said(/ask\.raised/);
    asking.child.kill("SIGINT");
    const { status, out, err } = await asking.ended;
    assert.deepEqual([status, out], [130, ""]);
    assert.match(err, /what was under way is kept, run the same command again to go on\n$/);
    assert.deepEqual(
      roots(b).map((view) => view.status),
      ["running"],
    );
    assert.match(b.run("tasks").out, /^\? tsk_\w+ {2}asks you: Which colour.*\(ask_\w+\), nobody working/);
  });

  test("--detach prints the task's id and how to follow it, and a daemon does the work", async (t) => {
    const b = bench(t);
    const left = b.run("invoke", "--detach", example("detached"));
    assert.equal(left.status, 0, left.err);
    const [id = ""] = left.out.split("\n");
    assert.match(left.out, /^tsk_\w+\n$/);
    assert.match(left.err, /started a daemon at http:\/\/127\.0\.0\.1:\d+; `tutti down --state/);
    assert.match(left.err, new RegExp(`follow it with \`tutti attach ${id} --state`));
    assert.equal((await b.start("logs", "-f", id).ended).status, 0);
    const { tree } = z.object({ tree: z.array(TaskSummary) }).parse(JSON.parse(b.run("show", "--json", id).out));
    assert.deepEqual(
      tree.map((view) => view.status),
      ["completed", "completed", "completed"],
    );
  });

  test("the same file goes on with detached tasks that are unfinished", async (t) => {
    const b = bench(t);
    const text = readFileSync(join(b.folder, example("detached")), "utf8").replace(
      /"delay_ms": \d+/,
      '"delay_ms": 2000',
    );
    const file = b.file("slow.json", JSON.parse(text));
    const working = b.start("invoke", file);
    await working.said(/task\.completed +started 2 tasks, not waited for/);
    working.child.kill("SIGINT");
    assert.equal((await working.ended).status, 130);
    const [root] = roots(b);
    assert.equal(root?.status, "completed");
    assert.match(b.run("tasks").out, /▸ tsk_\w+ {2}2 tasks still to be done, nobody working {2}/);
    const again = b.run("invoke", file);
    assert.equal(again.status, 0, again.err);
    assert.match(again.out, /one is done\.\n.*two is done\./);
    assert.equal(roots(b).length, 1, "the tree whose tasks still ran was found again");
    assert.equal(roots(b)[0]?.open, 0);
    assert.doesNotMatch(b.run("tasks").out, /still to be done/);
  });
});

const hasScript = spawnSync("sh", ["-c", "command -v script timeout"]).status === 0;

describe("on a terminal", { skip: hasScript ? false : "there is no script(1) to make a terminal with" }, () => {
  test("questions are asked inline, again after a wrong answer, and the answers are used", async (t) => {
    const b = bench(t);
    const asking = b.onTerminal("invoke", example("ask"));
    await asking.said(/Which colour should the balloons have\?[^]*One of: red \| blue[^]*> /);
    asking.child.stdin?.write("green\r");
    await asking.said(/must be one of: red, blue[^]*> /);
    asking.child.stdin?.write("red\r");
    await asking.said(/May I order red balloons\?[^]*> /);
    asking.child.stdin?.write("yep\r");
    await asking.said(/answer y or n; a reason may follow a no[^]*y to allow it once[^]*> /);
    asking.child.stdin?.write("y\r");
    const { status, out } = await asking.ended;
    assert.equal(status, 0, out);
    assert.match(out, /✓ tsk_\w+ Ordered\./);
  });

  test("Ctrl-D leaves a question open and says how to answer it; the next start asks again", async (t) => {
    const b = bench(t);
    const asking = b.onTerminal("invoke", example("ask"));
    await asking.said(/Which colour[^]*> /);
    asking.child.stdin?.write("\u0004");
    await asking.said(/ask_\w+ stays open; answer it with\s+`tutti answer ask_/);
    asking.child.stdin?.write("\u0003");
    assert.equal((await asking.ended).status, 130);
    const again = b.onTerminal("invoke", example("ask"));
    await again.said(/Which colour[^]*> /);
    again.child.stdin?.write("\u0003");
    assert.equal((await again.ended).status, 130);
  });

  test("the result of a tool that the client runs is asked for inline, with the call", async (t) => {
    const b = bench(t);
    const asking = b.onTerminal("invoke", example("external"));
    await asking.said(/Result of weather\r?\n {2}\{"city":"Oslo"\}\r?\n[^]*> /);
    assert.match(b.run("tasks").out, /^\? tsk_\w+ {2}waits for the result of a tool: weather \(ask_\w+\)/);
    asking.child.stdin?.write("rain\r");
    const { status, out } = await asking.ended;
    assert.equal(status, 0, out);
    assert.match(out, /✓ tsk_\w+ Take a coat\./);
  });
});
