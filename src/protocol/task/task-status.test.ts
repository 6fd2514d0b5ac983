import assert from "node:assert/strict";
import { test } from "node:test";
import { fromA2AState, isTerminal, TaskStatus, toA2AState } from "./task-status.ts";

test("completed, failed and canceled are final, the others are not", () => {
  assert.deepEqual(TaskStatus.options.filter(isTerminal), ["completed", "failed", "canceled"]);
});

test("A2A 0.3 and 1.0 have a word for every state and each reads back", () => {
  const words = (version: "0.3" | "1.0") => TaskStatus.options.map((status) => toA2AState(status, version));
  assert.deepEqual(words("0.3"), ["submitted", "working", "input-required", "completed", "failed", "canceled"]);
  assert.deepEqual(words("1.0"), [
    "TASK_STATE_SUBMITTED",
    "TASK_STATE_WORKING",
    "TASK_STATE_INPUT_REQUIRED",
    "TASK_STATE_COMPLETED",
    "TASK_STATE_FAILED",
    "TASK_STATE_CANCELED",
  ]);
  for (const version of ["0.3", "1.0"] as const) assert.deepEqual(words(version).map(fromA2AState), TaskStatus.options);
});

test("a rejected task failed, one that wants credentials waits for input", () => {
  assert.deepEqual(["rejected", "TASK_STATE_REJECTED"].map(fromA2AState), ["failed", "failed"]);
  assert.deepEqual(["auth-required", "TASK_STATE_AUTH_REQUIRED"].map(fromA2AState), [
    "input_required",
    "input_required",
  ]);
});

test("a state that says nothing is not guessed at", () => {
  for (const state of ["unknown", "TASK_STATE_UNSPECIFIED", "done", "", "Completed", "TASK_STATE_"]) {
    assert.equal(fromA2AState(state), undefined, state);
  }
});
