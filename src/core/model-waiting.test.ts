import assert from "node:assert/strict";
import { test } from "node:test";

import { agent, created, eventsOf, type Happening, said, started, top } from "../../test/support/task-events.ts";
import { activityOf, summaryOf } from "./activity.ts";
import { emptyTree, foldTree } from "./fold-tree.ts";
import { modelWaiting, waitingIn, waitingText } from "./model-waiting.ts";

const again = { reason: "rate limit", waitMs: 8_000, next: 4, most: 25 };
const [, wait] = modelWaiting("keyed/m", again, 1_000);
const waiting: Happening = { task: agent, ...wait };
const step = { key: "model:1", tokens: 1, money_micro_usd: 0 };
const begun = [created(top), created(agent, top), started(agent)];

test("a wait for a model says which model, why, which try comes and when", () => {
  assert.equal(waitingText(wait.data, 1_000), "waiting for keyed/m: rate limit, try 4 of 25, next in 8 s");
  assert.match(waitingText(wait.data, 9_000), /next now$/);
  assert.match(waitingText(modelWaiting("a/b", { ...again, waitMs: 600_000 }, 0)[1].data, 0), /next in 10 min$/);
  assert.ok(!waitingText({ ...wait.data, reason: "\u001b[2J" }, 0).includes("\u001b"));
});

test("two waits of one call have different keys, so that both are recorded", () => {
  assert.notEqual(modelWaiting("a/b", again, 1)[0], modelWaiting("a/b", { ...again, next: 5 }, 1)[0]);
  assert.notEqual(modelWaiting("a/b", again, 1)[0], modelWaiting("a/b", again, 2)[0]);
});

test("a task waits until its call has an outcome, and the tree says that a model was called", () => {
  const tree = eventsOf([...begun, waiting]).reduce(foldTree, emptyTree(top));
  assert.deepEqual([tree.waiting.get(agent)?.next, tree.called], [4, true]);
  const told = said(agent, { role: "user", text: "hello" });
  for (const [happening, waits] of [
    [told, true],
    [said(agent, { text: "hi", step }), false],
    [
      { task: agent, type: "step.finished", data: { key: "k", outcome: "failed", tokens: 0, money_micro_usd: 0 } },
      false,
    ],
    [{ task: agent, type: "task.canceled", data: { reason: "no" } }, false],
  ] as const) {
    const events = eventsOf([...begun, waiting, happening]);
    assert.equal(events.reduce(foldTree, emptyTree(top)).waiting.has(agent), waits, happening.type);
    assert.equal(waitingIn(events) !== undefined, waits, happening.type);
  }
});

test("a session that waits for a model is at work and says so, however long the pause is", () => {
  const [, long] = modelWaiting("keyed/m", { ...again, waitMs: 3_600_000 }, 100);
  const events = eventsOf([...begun, { task: agent, ...long }]);
  const seen = { status: "running", asks: [], events, now: 3_000_000, hasOpenTasks: false } as const;
  assert.equal(activityOf(seen), "working");
  assert.match(summaryOf(seen), /^waiting for keyed\/m: rate limit/);
});
