import assert from "node:assert/strict";
import { test } from "node:test";

import { question } from "../../test/support/task-events.ts";
import { describeAsk } from "./open-asks.ts";

test("a question is described in one line, with its choices and without control codes", () => {
  assert.equal(
    describeAsk({ ...question, question: "Which\n\u001b[2Jone?", choices: ["a", "b"] }),
    "question: Which \\u001b[2Jone? (a | b)",
  );
});

test("a wait is described by the call of the tool, or by its label", () => {
  const wait = { id: "ask_2", task: "tsk_1", root: "tsk_1", label: "a result", deadline: 1 };
  assert.equal(describeAsk(wait), "a result");
  const call = { tool_name: "weather", input: { city: "Oslo" } };
  assert.equal(describeAsk({ ...wait, call }), 'external tool: weather {"city":"Oslo"}');
});
