import assert from "node:assert/strict";
import { test } from "node:test";
import { InvocationResult, TaskSnapshot } from "./invocation-result.ts";

const result = { content: { text: "ok" }, task_id: "t1", status: "completed" };

test("each way of waiting has its own result and keeps its wire form", () => {
  const results = [
    { kind: "scalar", result },
    { kind: "vector", results: [result, { content: null, task_id: "t2", status: "failed" }] },
    { kind: "task_ids", task_ids: ["t1", "t2"] },
  ];
  for (const value of results) assert.deepEqual(InvocationResult.parse(value), value);
});

test("a result without content or with an unknown status is refused", () => {
  const { content: _, ...without } = result;
  assert.equal(InvocationResult.safeParse({ kind: "scalar", result: without }).success, false);
  for (const status of ["done", "cancelled", "Completed"]) {
    assert.equal(InvocationResult.safeParse({ kind: "scalar", result: { ...result, status } }).success, false, status);
  }
});

test("a snapshot writes ended_at as null and leaves an absent preview out", () => {
  const running = {
    task_id: "t1",
    agent_id: "worker",
    status: "running",
    executor: { type: "local" },
    started_at: 1,
    last_event_at: 2,
  };
  assert.equal(JSON.stringify(TaskSnapshot.parse(running)), JSON.stringify({ ...running, ended_at: null }));
  const remote = { type: "remote", runner: { kind: "k8s", config: {} } };
  const done = { ...running, executor: remote, status: "completed", ended_at: 3, preview: "ok" };
  assert.deepEqual(TaskSnapshot.parse(done), done);
});
