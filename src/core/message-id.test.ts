import assert from "node:assert/strict";
import { test } from "node:test";
import { isOfAttempt, messageId } from "./message-id.ts";

test("a message's id names its task, attempt, run and the key it was recorded under", () => {
  const id = messageId({ task: "tsk_a_1", attempt: 2, run: 3 }, "model:4");
  assert.equal(id, "tsk_a_1.2.3.model:4");
  assert.equal(isOfAttempt(id, { task: "tsk_a_1", attempt: 2 }), true);
  assert.equal(isOfAttempt(id, { task: "tsk_a_1", attempt: 1 }), false);
  assert.equal(isOfAttempt(id, { task: "tsk_a_2", attempt: 2 }), false);
});
