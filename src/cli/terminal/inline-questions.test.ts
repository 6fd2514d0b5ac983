// Questions of a run: asked on a real terminal, answered elsewhere, left open; and announced where there is no terminal.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";

import { example, openIn, up, waiting } from "../../../test/support/cli-daemon.ts";
import { captureOutput } from "../../../test/support/captured-output.ts";
import { agent, answered, created, eventsOf, type Happening, raised, top } from "../../../test/support/task-events.ts";
import { bench } from "../../../test/support/cli-process.ts";
import type { Tutti } from "../../client/client.ts";
import { emptyTree, foldTree } from "../../core/fold-tree.ts";
import { announcedQuestions } from "./inline-questions.ts";

describe("without a terminal", () => {
  /** What is printed when the batches of events arrive one after the other. */
  async function printed(t: TestContext, ...batches: Happening[][]): Promise<string> {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const captured = captureOutput(t);
    const tutti = { task: async () => ({ runner: "invocation" }) } as unknown as Tutti;
    const questions = announcedQuestions(tutti, { state: "/s" });
    const tree = emptyTree(top);
    const events = eventsOf(batches.flat()).values();
    for (const batch of batches) {
      for (const event of events.take(batch.length)) questions.update({ event }, foldTree(tree, event));
      t.mock.timers.tick(50);
      await new Promise((done) => setImmediate(done));
    }
    return captured.err;
  }
  const begun = [created(top), created(agent, top)];

  test("a question is announced once, with the command that answers it", async (t) => {
    const again: Happening = { task: agent, type: "task.input_required", data: { ask: "ask_1" } };
    assert.equal(
      await printed(t, [...begun, raised], [again]),
      "Which?\ntutti: waiting for an answer to ask_1; answer it with `tutti answer ask_1 … --state /s`\n",
    );
  });

  test("a question that was answered before this command began is not announced", async (t) => {
    assert.equal(await printed(t, [...begun, raised, answered]), "");
  });
});

const hasScript = spawnSync("sh", ["-c", "command -v script timeout"]).status === 0;

describe("on a terminal", { skip: hasScript ? false : "there is no script(1) to make a terminal with" }, () => {
  test("a question that is answered elsewhere is taken back, and the next one is asked", async (t) => {
    const b = bench(t);
    up(b);
    const asking = b.onTerminal("invoke", example("ask"));
    await asking.said(/Which colour should the balloons have\?[^]*> /);
    assert.equal(b.run("answer", openIn(b).asks[0]?.id ?? "", "red").status, 0);
    await asking.said(/ask_\w+ was answered by \S+[^]*May I order red balloons\?[^]*> /);
    asking.child.stdin?.write("y\r");
    const { status, out } = await asking.ended;
    assert.equal(status, 0, out);
    assert.match(out, /Ordered\./);
    assert.match(out, /2 of 2 done, .* tokens, \$.*, rehearsal/, "the live tree shows cost and time");
  });

  test("what is no answer is asked for again, below the question, and starts nothing", async (t) => {
    const b = bench(t);
    const { ask } = await waiting(b, "ask");
    const asking = b.onTerminal("answer", ask);
    await asking.said(/One of: red \| blue[^]*Your answer:[^]*> /);
    for (const [typed, said] of [
      ["", /an empty line is no answer[^]*Your answer:[^]*> /],
      ["stop", /the answer must be one of: red, blue[^]*Your answer:[^]*> /],
    ] as const) {
      asking.child.stdin?.write(`${typed}\r`);
      await asking.said(said);
    }
    assert.equal(openIn(b).asks[0]?.id, ask);
    asking.child.stdin?.write("RED\r");
    const { status, out } = await asking.ended;
    assert.equal(status, 0, out);
    assert.equal(out.match(/Which colour/g)?.length, 1, "the question stands on the screen once");
    const wrong = b.run("answer", (await waiting(b, "ask")).ask, "green");
    assert.deepEqual([wrong.status, /must be one of: red, blue/.test(wrong.err)], [3, true], wrong.err);
  });

  test("tutti answer without a text asks for it", async (t) => {
    const b = bench(t);
    const { ask } = await waiting(b, "ask");
    const asking = b.onTerminal("answer", ask);
    await asking.said(/Which colour should the balloons have\?[^]*One of: red \| blue[^]*> /);
    asking.child.stdin?.write("blue\r");
    const { status, out } = await asking.ended;
    assert.equal(status, 0, out);
    assert.match(out, /is answered/);
  });

  test("an approval of an edit shows the change in colours, once, and tutti asks shows the same change", async (t) => {
    const b = bench(t, { colors: true });
    writeFileSync(join(b.folder, "a.txt"), "one\ntwo\nthree\n");
    const file = b.file("edit.json", {
      invocation: {
        targets: [
          {
            agent: { type: "named", agent_id: "dev" },
            message: { role: "user", parts: [{ part_type: "text", data: "go" }] },
          },
        ],
      },
      roots: ["."],
      agents: { dev: { instructions: "d", tools: ["edit"], approvals: { write: "ask" } } },
      script: { rules: [{ turn: 0, call: [{ tool: "edit", args: { path: "a.txt", old: "two", new: "zwei" } }] }] },
    });
    const asking = b.onTerminal("invoke", file);
    const shown =
      // oxlint-disable-next-line no-control-regex -- the colours are what this is about
      /May dev change this file\?[^]*a\.txt \(exists, 14 bytes\)[^]*one\r?\n {2}\u001b\[31m-two\u001b\[0m\r?\n {2}\u001b\[32m\+zwei/;
    await asking.said(shown);
    const listed = b.run("asks");
    assert.match(listed.out, /May dev change this file\?[^]*\n {4}-two\n {4}\+zwei\n/);
    asking.child.stdin?.write("y\r");
    const { status, out } = await asking.ended;
    assert.equal(status, 0, out);
    assert.equal(out.match(/May dev change this file/g)?.length, 1, "the question stands on the screen once");
    assert.equal(readFileSync(join(b.folder, "a.txt"), "utf8"), "one\nzwei\nthree\n");
  });

  test("always shows the rule before it is written; then nobody is asked until it is revoked", async (t) => {
    const b = bench(t);
    const file = b.file("run.json", {
      invocation: {
        targets: [
          {
            agent: { type: "named", agent_id: "dev" },
            message: { role: "user", parts: [{ part_type: "text", data: "go" }] },
          },
        ],
      },
      roots: ["."],
      agents: { dev: { instructions: "d", tools: ["run"], approvals: { execute: "ask" } } },
      script: { rules: [{ turn: 0, call: [{ tool: "run", args: { argv: ["echo", "one", "two"] } }] }] },
    });
    const asking = b.onTerminal("invoke", file);
    await asking.said(/May dev run this program\?[^]*a to allow it always, a: PATTERN[^]*> /);
    asking.child.stdin?.write("a: echo -*\r");
    await asking.said(/the command does not fit this pattern[^]*> /);
    asking.child.stdin?.write("a: echo *\r");
    await asking.said(/in this project, this runs without asking:\s+the command echo \*; [^]*> /);
    assert.match(b.run("approvals", "list").out, /nothing is allowed for good/, "nothing is written before the yes");
    asking.child.stdin?.write("y\r");
    const { status, out } = await asking.ended;
    assert.equal(status, 0, out);
    const again = b.run("invoke", "--new", file);
    assert.equal(again.status, 0, again.err);
    const listed = b.run("approvals", "list").out;
    const [id = ""] = /apr_\w+/.exec(listed) ?? [];
    assert.match(listed, /the command echo \*/);
    const [task = ""] = /tsk_\w+/.exec(b.run("tasks", "-n", "1").out) ?? [];
    assert.match(b.run("show", task).out, new RegExp(`allowed by ${id}: the command echo \\*`));
    assert.equal(b.run("approvals", "revoke", id).status, 0);
    const third = b.onTerminal("invoke", "--new", file);
    await third.said(/May dev run this program/);
    third.child.stdin?.write("n\r");
    await third.ended;
  });

  test("Ctrl-C and Ctrl-D at tutti answer leave the question open, with status 130", async (t) => {
    const b = bench(t);
    const { ask } = await waiting(b, "ask");
    for (const key of ["\u0003", "\u0004"]) {
      const asking = b.onTerminal("answer", ask);
      await asking.said(/Which colour should the balloons have\?[^]*One of: red \| blue[^]*> /);
      asking.child.stdin?.write(key);
      const { status, out } = await asking.ended;
      assert.equal(status, 130, out);
      assert.match(out, new RegExp(`tutti: ${ask} stays open\\s*$`));
    }
    assert.equal(openIn(b).asks[0]?.id, ask);
  });

  test("after Ctrl-C, the hint on how to follow the run stays readable below the live tree", async (t) => {
    const b = bench(t);
    up(b);
    const asking = b.onTerminal("invoke", example("ask"));
    await asking.said(/Which colour should the balloons have\?[^]*> /);
    asking.child.stdin?.write("\u0004");
    await asking.said(/stays open; answer it with\s+`tutti answer ask_\w+ … --state [^]*0 of 2 done/);
    asking.child.stdin?.write("\u0003");
    const { status, out } = await asking.ended;
    assert.equal(status, 130, out);
    const redraws = out.split("\u001b[3A").slice(0, -1);
    assert.ok(
      redraws.length > 0 && redraws.every((before) => before.endsWith("\r")),
      "a typed key does not shift the tree",
    );
    assert.match(
      out,
      /0 of 2 done[^\n]*\n[^\n]*\n?tutti: left; the daemon goes on with it, follow it\s+with\s+`[^`]*`\s*$/,
    );
  });
});
