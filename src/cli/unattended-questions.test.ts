// Questions of a run that nobody is there to answer: with a daemon, without one, with --yes, and with a file as standard input.
import assert from "node:assert/strict";
import { test } from "node:test";

import { example, openIn, up } from "../../test/support/cli-daemon.ts";
import { type Bench, bench } from "../../test/support/cli-process.ts";
import { errorTable } from "../protocol/error.ts";

const target = (agent: string): object => ({
  agent: { type: "named", agent_id: agent },
  message: { role: "user", parts: [{ part_type: "text", data: "go" }] },
});

/** An agent that makes one call, about which a person is asked, and repeats what came back. */
const calls = (b: Bench, call: object, more: object = {}): string =>
  b.file("calls.json", {
    invocation: { targets: [target("dev")] },
    roots: ["."],
    agents: { dev: { instructions: "d", tools: ["run", "write", "ask"], approvals: { execute: "ask", write: "ask" } } },
    script: { rules: [{ turn: 0, call: [call] }, { say: "{{last}}" }] },
    ...more,
  });

test("with a daemon, the question stays open there and the command ends with status 9 and names it", (t) => {
  const b = bench(t);
  up(b);
  const ended = b.run("invoke", example("ask"));
  assert.equal(ended.status, errorTable.needs_input.exit, ended.err);
  assert.equal(ended.status, 9);
  const [open] = openIn(b).asks;
  assert.match(ended.err, new RegExp(`Which colour should the balloons have[^]*: ${open?.id} stays open; answer with`));
  const json = b.run("invoke", "--new", "--json", example("ask"));
  assert.match(json.err + json.out, /"code":"needs_input"/);
});

test("without a daemon nothing waits: approvals are denied with the reason, questions have no answer", (t) => {
  const b = bench(t);
  const run = b.run("invoke", calls(b, { tool: "run", args: { argv: ["echo", "a"] } }));
  assert.equal(run.status, 0, run.err);
  assert.match(run.out, /not allowed: no input/);
  assert.match(run.err, /\| echo a\n[^]*there is no input, so the answer is no/);
  const question = b.run("invoke", calls(b, { tool: "ask", args: { question: "Which?", choices: ["a", "b"] } }));
  assert.match(question.out, /"answered":false/);
  const client = b.run("invoke", example("external"));
  assert.ok(client.status === 0 || client.status === 8, client.err);
  assert.match(b.run("asks").out, /nothing waits/);
});

test("--yes allows calls, and leaves a budget and a protected file to a person", (t) => {
  const b = bench(t);
  const run = b.run("invoke", "--yes", calls(b, { tool: "run", args: { argv: ["echo", "hello"] } }));
  assert.match(run.out, /"exit_code":0[^]*hello/, run.err);
  assert.match(run.err, /\| echo hello\n[^]*allowed by --yes/);
  const write = calls(b, { tool: "write", args: { path: ".envrc", content: "x" } });
  assert.match(b.run("invoke", "--yes", write).out, /not allowed: no input/);
  const budget = calls(b, { tool: "run", args: { argv: ["echo", "a"] } }, { budget: { tokens: 1 } });
  const stopped = b.run("invoke", "--yes", budget);
  assert.equal(stopped.status, errorTable.task_failed.exit, stopped.err);
});

test("a person at a terminal is asked there when standard input is a file", async (t) => {
  const b = bench(t);
  const asking = b.onTerminal("invoke", "-", "<", "examples/invocations/ask.json");
  await asking.said(/Which colour should the balloons have[^]*> /);
  asking.child.stdin?.write("red\r");
  await asking.said(/May I order red balloons[^]*> /);
  asking.child.stdin?.write("y\r");
  const { status, out } = await asking.ended;
  assert.equal(status, 0, out);
  assert.match(out, /Ordered\./);
});
