// What a run looks like on a terminal, live, from another terminal and afterwards, as real processes.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { bench, type Bench, jsonLines } from "../../../test/support/cli-process.ts";

const report = "# Report\n\n- first item that is rather long, so that it wraps\n\nSee [the docs](https://e.example/d).";
const first = "I will **look** at the notes first; this line is long enough to be wrapped at eighty columns.";

/** A project with an agent that reads a file, asks for a colour if it is told to, and answers in Markdown. */
function project(t: TestContext, { asks }: { readonly asks: boolean }): Bench {
  const b = bench(t);
  mkdirSync(join(b.folder, ".tutti", "agents"), { recursive: true });
  const head = "---\nname: writer\ndescription: writes\nmodel: rehearsal/script\ntools: read, ask\n---\n";
  writeFileSync(join(b.folder, ".tutti", "agents", "writer.md"), `${head}You write.\n`);
  writeFileSync(join(b.folder, "notes.txt"), "one\ntwo\n");
  const rules = [
    { turn: 0, say: first, call: [{ tool: "read", args: { path: "notes.txt" } }] },
    ...(asks ? [{ turn: 1, ask: { question: "Which colour?" } }] : []),
    { say: report },
  ];
  b.file("script.json", { rules });
  return b;
}

const args = ["agents", "run", "writer", "Summarise the notes,\nplease.", "--script", "script.json"];
const shown = (out: string): string => out.replaceAll("\r", "");

for (const columns of [80, 40]) {
  test(`on ${columns} columns everything fits with its indent, and the answer is printed once`, async (t) => {
    const b = project(t, { asks: false });
    const { out, status } = await b.onTerminalOf(columns, ...args).ended;
    assert.equal(status, 0, out);
    const text = shown(out);
    for (const line of text.split("\n")) assert.ok(line.length <= columns, `${line.length}: ${line}`);
    assert.match(text, /\nwriter \(rehearsal\)\n {2}I will \*\*look\*\* at the notes/, "NO_COLOR keeps the marks");
    assert.match(text, /\n {2}← read\n {4}\[.*[^]*\n {4}one\n {4}two\n/, "text with its lines");
    assert.equal(text.split("first item").length - 1, 1);
    assert.match(text, /\n {2}• first item that is rather[^•]*wraps\n/);
    const account = shown((await b.onTerminalOf(columns, "show", "last").ended).out);
    for (const line of account.split("\n")) assert.ok(line.length <= columns, `${line.length}: ${line}`);
    const parts = /^✓ tsk_\w+ {2}completed[^]*asked\n {2}writer[^]*\n {4}Summarise the notes,\n {4}please\.\n\ntasks\n/;
    assert.match(account, parts);
    assert.match(account, /conversation\nwriter[^]*result\n {2}✓ the last message above\n\nnext\n {2}tutti retry tsk_/);
  });
}

test("a run in the background is attached to, answered and left, and a finished one is told again", async (t) => {
  const b = project(t, { asks: true });
  const started = b.run(...args, "--detach");
  assert.equal(started.status, 0, started.err);
  const task = started.out.trim();
  assert.match(started.err, new RegExp(`follow it with \`tutti attach ${task} --state`));

  const left = b.onTerminal("attach", "last");
  await left.said(/Which colour\?[^]*> /);
  left.child.stdin?.write("\u0003");
  assert.match((await left.ended).out, /left; it goes on, come back with\s+`tutti attach/);

  const attached = b.onTerminal("attach", task);
  await attached.said(/I will \*\*look\*\*[^]*Which colour\?[^]*> /);
  attached.child.stdin?.write("red\n");
  const { out, status } = await attached.ended;
  assert.equal(status, 0, out);
  assert.match(shown(out), /See the docs/);

  const again = b.run("attach", "last", "--last", "1");
  assert.equal(again.out, `${report}\n`, "a program gets every byte");
  assert.doesNotMatch(again.err, /I will/);
  assert.match(b.run("transcript", "last").out, /^▸ writer is asked\n {2}Summarise[^]*answered by .*: red\n/);
  const lines = b.run("logs", "last", "-n", "3", "--json").out;
  assert.equal(jsonLines(lines).length, 3);
  assert.equal(b.run("logs", "last", "--since", "1h").out, b.run("logs", task).out);
  assert.equal(b.run("logs", "--since", "soon").status, 2);
});

test("logs -f shows the lines that a command prints while it runs", async (t) => {
  const b = bench(t);
  const shell = "for i in $(seq 1 40); do echo line $i; sleep 0.1; done";
  const executor = { kind: "force", type: "remote", runner: { kind: "command", config: { shell } } };
  const message = { role: "user", parts: [{ part_type: "text", data: "go" }] };
  const invocation = { targets: [{ agent: { type: "named", agent_id: "a" }, message }], executor };
  const working = b.start(
    "invoke",
    b.file("slow.json", { invocation, agents: { a: { instructions: "a" } }, roots: ["."] }),
  );
  await working.said(/task\.started/);
  const following = b.start("logs", "-f", "last", "-n", "1");
  await following.said(/\d tsk_\w+ output +│ line \d+\n[^]*│ line \d+\n/);
  const { out, status } = await following.ended;
  assert.equal(status, 0);
  assert.match(out, /│ line 40\n[^]*task\.completed/);
});
