// The tool `ask` over a real engine: questions, approvals, and what a model is told when nobody answers.

import assert from "node:assert/strict";
import { test } from "node:test";
import { world } from "../../../test/support/agent-kit.ts";
import { leadOf, led, person } from "../../../test/support/lead-and-worker.ts";
import { until } from "../../../test/support/wait-until.ts";

test("an ask is raised, answered by the first answer, and later ones are told so (invariant 8)", async (t) => {
  const w = await world(t);
  const root = await w.start(led({ ask: { question: "Which colour?", choices: ["red", "blue"] } }));
  const asked = await until(() => w.waits(root)[0]);
  assert.equal(asked.body.ask?.question, "Which colour?");
  assert.equal((await w.engine.deliver(asked.id, { kind: "question", value: "green" }, person)).outcome, "invalid");
  assert.equal((await w.engine.deliver(asked.id, { kind: "question", value: "blue" }, person)).outcome, "accepted");
  assert.equal((await w.engine.deliver(asked.id, { kind: "question", value: "red" }, person)).outcome, "late");
  await w.engine.result(root);
  assert.deepEqual(w.toolResults(leadOf(w, root)), [{ answered: true, value: "blue", by: "ana" }]);
});

test("an expired question is told as no answer, an expired approval as a denial (invariant 8)", async (t) => {
  const w = await world(t);
  const calls = [
    { tool: "ask", args: { question: "Why?", within_ms: 20 } },
    { tool: "ask", args: { question: "May I?", kind: "approval", within_ms: 20 } },
  ];
  const root = await w.start(led({ call: calls }));
  await w.engine.result(root);
  const [question, approval] = w.toolResults(leadOf(w, root)) as Record<string, unknown>[];
  assert.equal(question?.["answered"], false);
  assert.equal(question?.["meaning"], "no_answer");
  assert.equal(approval?.["approved"], false);
  assert.equal(approval?.["meaning"], "denied");
});
