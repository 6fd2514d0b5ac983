import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../test/support/properties.ts";
import { isTerminal, TaskStatus } from "../protocol/task/task-status.ts";
import { nextStatus, type LifeEvent } from "./task-state.ts";

const events: readonly LifeEvent[] = [
  "task.started",
  "task.input_required",
  "task.resumed",
  "task.handed_over",
  "run.started",
  "task.completed",
  "task.failed",
  "task.canceled",
];

/** Follows the events from pending, skipping refused ones. */
function walk(path: readonly LifeEvent[]): TaskStatus[] {
  const statuses: TaskStatus[] = ["pending"];
  for (const event of path) {
    const transition = nextStatus(statuses.at(-1) ?? "pending", event);
    if (transition.ok) statuses.push(transition.status);
  }
  return statuses;
}

test("a task runs, asks, goes on and completes", () => {
  assert.deepEqual(walk(["task.started", "run.started", "task.input_required", "task.resumed", "task.completed"]), [
    "pending",
    "running",
    "running",
    "input_required",
    "running",
    "completed",
  ]);
});

test("a second question while one is open keeps the task waiting", () => {
  assert.deepEqual(nextStatus("input_required", "task.input_required"), { ok: true, status: "input_required" });
});

test("a task can fail or be canceled at any point before its end", () => {
  for (const status of ["pending", "running", "input_required"] as const) {
    assert.deepEqual(nextStatus(status, "task.failed"), { ok: true, status: "failed" });
    assert.deepEqual(nextStatus(status, "task.canceled"), { ok: true, status: "canceled" });
  }
});

test("a task completes only while it runs", () => {
  assert.equal(nextStatus("pending", "task.completed").ok, false);
  assert.equal(nextStatus("input_required", "task.completed").ok, false);
});

test("a run that starts, of the next attempt too, leaves its task running (invariant 2)", () => {
  assert.deepEqual(walk(["task.started", "run.started", "run.started"]), ["pending", "running", "running", "running"]);
  assert.equal(nextStatus("input_required", "run.started").ok, false);
});

test("a refusal says what was refused and why", () => {
  const late = nextStatus("completed", "task.canceled");
  assert.ok(!late.ok);
  assert.match(late.reason, /completed.*final.*task\.canceled/);
  const early = nextStatus("pending", "task.resumed");
  assert.ok(!early.ok);
  assert.match(early.reason, /task\.resumed.*pending/);
});

test("no sequence of events leaves a terminal state, and each has at most one terminal event (invariant 2)", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...events), { maxLength: 60 }), (path) => {
      const statuses = walk(path);
      const end = statuses.findIndex(isTerminal);
      if (end !== -1) assert.equal(end, statuses.length - 1);
    }),
    { numRuns: 2000 },
  );
});

test("a terminal state refuses every event", () => {
  for (const status of TaskStatus.options.filter(isTerminal)) {
    for (const event of events) assert.equal(nextStatus(status, event).ok, false, `${status} ${event}`);
  }
});

test("every state can be reached", () => {
  const seen = new Set(
    [
      walk(["task.started", "task.input_required"]),
      walk(["task.started", "task.completed"]),
      walk(["task.failed"]),
      walk(["task.canceled"]),
    ].flat(),
  );
  assert.deepEqual([...seen].toSorted(), TaskStatus.options.toSorted());
});
