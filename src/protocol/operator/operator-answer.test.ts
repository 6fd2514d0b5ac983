import assert from "node:assert/strict";
import { test } from "node:test";
import { readAnswer } from "../task/ask.ts";
import { operatorAnswer } from "./operator-answer.ts";

const text = { kind: "question", answer_schema: null } as const;
const shaped = { kind: "question", answer_schema: { type: "object" } } as const;
const approval = { kind: "approval", answer_schema: null } as const;
const budget = { kind: "budget", answer_schema: null } as const;

test("a question takes text as it is, other values as their JSON, and anything as it is when it has a schema", () => {
  assert.deepEqual(operatorAnswer(text, "yes"), { kind: "question", value: "yes" });
  for (const value of [null, 0, false, [1], { a: 1 }]) {
    assert.deepEqual(operatorAnswer(text, value), { kind: "question", value: JSON.stringify(value) });
    assert.deepEqual(operatorAnswer(shaped, value), { kind: "question", value });
  }
});

test("a choice is meant whatever the case of its letters, and only where no other one could be", () => {
  const sides = { kind: "question", answer_schema: null, choices: ["left", "right", "Up", "up"] } as const;
  const ask = { ...sides, choices: [...sides.choices] };
  const answers: readonly (readonly [unknown, string?])[] = [
    ["Left", "left"],
    [" RIGHT\n", "right"],
    ["Up", "Up"],
    ["UP"],
    ["lefty"],
    [""],
    [{ kind: "question", value: "LEFT" }, "left"],
    [{ verdict: "left" }],
    [["left"]],
  ];
  for (const [value, expected] of answers) {
    const read = readAnswer(ask, operatorAnswer(ask, value));
    assert.equal(read.ok ? Object(read.answer).value : undefined, expected, JSON.stringify(value));
  }
});

test("an approval or a budget takes a boolean, its fields or the whole answer, not what merely resembles consent", () => {
  assert.deepEqual(operatorAnswer(approval, true), { kind: "approval", approved: true });
  assert.deepEqual(operatorAnswer(approval, { approved: false, reason: "no" }), {
    kind: "approval",
    approved: false,
    reason: "no",
  });
  assert.deepEqual(operatorAnswer(budget, false), { kind: "budget", go_on: false });
  const raised = { kind: "budget", go_on: true, limits: { tokens: 5 } };
  assert.deepEqual(operatorAnswer(budget, raised), raised);
  for (const value of [
    "true",
    "yes",
    "True",
    1,
    null,
    {},
    [],
    { ok: true },
    { verdict: true },
    { verdict: { approved: true } },
    { kind: "question", value: true },
  ]) {
    assert.equal(operatorAnswer(approval, value), undefined, JSON.stringify(value));
    assert.equal(operatorAnswer(budget, value), undefined, JSON.stringify(value));
  }
});
