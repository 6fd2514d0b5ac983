import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import type { TaskEvent, TaskSummary } from "../../../src/client/index.ts";
import { foldTasks, type LiveTree, settleUncertain, treeFrom } from "./fold-tasks.ts";

const root = "tsk_a_1";

function summary(id: string, tokens = 0): TaskSummary {
  return {
    id,
    parent: id === root ? null : root,
    root,
    depth: id === root ? 0 : 1,
    agent: "worker",
    runner: "local",
    detached: false,
    status: "running",
    attempt: 1,
    run: 1,
    created_at: 1,
    ended_at: null,
    steps: 0,
    tokens,
    money_micro_usd: 0,
    result_preview: null,
  };
}

function step(seq: number, task: string, tokens: number): TaskEvent {
  const data = { key: `s${seq}`, outcome: "ok" as const, tokens, money_micro_usd: tokens * 2 };
  return { seq, at: seq, task, root, type: "step.finished", data };
}

function created(seq: number, task: string): TaskEvent {
  const data = { agent: "worker", runner: "local", parent: root, depth: 1, detached: false, prompt: "go" };
  return { seq, at: seq, task, root, type: "task.created", data };
}

const start = (): LiveTree => treeFrom(root, [summary(root, 100)], { from: 10, to: 10 });

test("use is added once, however often an event is told (invariant 9)", () => {
  const events = [step(11, root, 5), step(12, root, 7)];
  const once = foldTasks(start(), events);
  const twice = foldTasks(once, [...events, step(12, root, 7)]);
  assert.equal(twice.tokens, 112);
  assert.equal(twice.money_micro_usd, 24);
  assert.equal(twice.tasks.get(root)?.steps, 2);
});

test("events that the snapshot has are not counted again", () => {
  assert.equal(foldTasks(start(), [step(9, root, 5), step(10, root, 5)]).tokens, 100);
});

test("an event that came while the snapshot was read makes its task uncertain until it is read again", () => {
  const before = treeFrom(root, [summary(root, 100)], { from: 10, to: 12 });
  const unsure = foldTasks(before, [step(11, root, 5), step(13, root, 1)]);
  assert.deepEqual([...unsure.uncertain], [root]);
  const during = [step(13, root, 1), step(15, root, 2)];
  const moved = settleUncertain(unsure, summary(root, 106), { from: 12, to: 14, during });
  assert.deepEqual([...moved.uncertain], [root], "an event of this task came while it was read");
  const later = foldTasks(unsure, [step(15, root, 2)]);
  const sure = settleUncertain(later, summary(root, 106), { from: 13, to: 14, during: [step(15, root, 2)] });
  assert.deepEqual([sure.uncertain.size, sure.tokens], [0, 108]);
});

test("a terminal status never changes, and the number of open tasks falls once (invariant 2)", () => {
  const end = (seq: number): TaskEvent => ({
    seq,
    at: seq,
    task: root,
    root,
    type: "task.completed",
    data: { content: "ok" },
  });
  const resumed: TaskEvent = { seq: 13, at: 13, task: root, root, type: "task.resumed", data: {} };
  const tree = foldTasks(start(), [end(11), end(12), resumed]);
  assert.equal(tree.unfinished, 0);
  assert.equal(tree.tasks.get(root)?.status, "completed");
  assert.equal(tree.tasks.get(root)?.result_preview?.text, "ok");
});

test("tasks of another tree, and tasks beside the one that is shown, are left out", () => {
  const other = { ...created(11, "tsk_b_2"), root: "tsk_b_1" };
  const beside: TaskEvent = created(12, "tsk_a_9");
  const tree = treeFrom("tsk_a_1", [summary("tsk_a_2")], { from: 10, to: 10 });
  assert.equal(foldTasks(tree, [other, beside]).tasks.size, 1);
});

test("only a new task changes the shape, and an event of another tree changes nothing", () => {
  const tree = start();
  assert.equal(foldTasks(tree, [{ ...step(11, "tsk_b_1", 5), root: "tsk_b_1" }]), tree);
  assert.equal(foldTasks(tree, [step(12, root, 1)]).shape, tree.shape);
  assert.notEqual(foldTasks(tree, [created(13, "tsk_a_2")]).shape, tree.shape);
});

test("however a stream is cut into batches and repeated, the sums are the same", () => {
  const events = Array.from({ length: 60 }, (_, index) =>
    index % 10 === 0
      ? created(11 + index, `tsk_a_${index + 2}`)
      : step(11 + index, `tsk_a_${index - (index % 10) + 2}`, index),
  );
  const whole = foldTasks(start(), events);
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(59), fc.nat(20)), { maxLength: 20 }), (cuts) => {
      let tree = start();
      let next = 0;
      for (const [, length] of cuts) {
        // A reconnect tells some events again.
        tree = foldTasks(tree, events.slice(Math.max(0, next - 3), next + length));
        next = Math.max(next, Math.min(events.length, next + length));
      }
      tree = foldTasks(tree, events.slice(Math.max(0, next - 3)));
      assert.deepEqual(
        [tree.tokens, tree.unfinished, tree.tasks.size],
        [whole.tokens, whole.unfinished, whole.tasks.size],
      );
    }),
  );
});
