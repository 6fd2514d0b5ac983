import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import type { TaskEvent } from "../../protocol/task/event.ts";
import { taskName } from "../../store/names.ts";
import { batchOf, type InsightBatch } from "./insight-batch.ts";
import { openInsightDatabase, removeInsight } from "./insight-database.ts";
import { boardOf, searchTexts, seriesOf, tasksBy } from "./insight-queries.ts";
import { searchExpression } from "./search-expression.ts";

const salt = "abc";
const task = taskName(salt, 1);
const base = { task, root: task, at: 60_000 };
const created: TaskEvent = {
  ...base,
  seq: 1,
  type: "task.created",
  data: { agent: "a", runner: "local", parent: null, depth: 0, detached: false, prompt: "Look for\nthe gyroscope" },
};
const spent = (seq: number): TaskEvent => ({
  ...base,
  seq,
  at: 60_000 + seq,
  type: "step.finished",
  data: { key: "k", outcome: "ok", tokens: 5, money_micro_usd: 7 },
});
const batch = (...events: TaskEvent[]): InsightBatch => batchOf(salt, events.at(-1)?.seq ?? 0, events);
const found = (database: Parameters<typeof searchTexts>[0], q: string): number =>
  searchTexts(database, { expression: searchExpression(q) ?? "", before: 1e9, limit: 9 }).length;

test("the index goes on where it was, and counts nothing twice", (t) => {
  const folder = tempFolder(t);
  const first = openInsightDatabase(folder, { salt, last: 2 });
  first.apply(batch(created, spent(2)));
  first.close();
  const again = openInsightDatabase(folder, { salt, last: 3 });
  assert.equal(again.position(), 2);
  again.apply(batch(spent(3)));
  const [row] = tasksBy(again.database, { order: "quietest", from: 0, limit: 5 });
  assert.partialDeepStrictEqual(row, { tokens: 10, money: 14, title: "Look for", last_at: 60_003 });
  const [point] = seriesOf(again.database, { from: 0, to: 120_000, bucketMs: 60_000 });
  assert.partialDeepStrictEqual(point, { at: 60_000, created: 1, tokens: 10, money: 14 });
  assert.equal(found(again.database, "gyroscope"), 1);
  again.close();
});

test("a batch that cannot be taken changes nothing", (t) => {
  const index = openInsightDatabase(tempFolder(t), { salt, last: 9 });
  index.apply(batch(created));
  const twice = batch(created, spent(2));
  assert.throws(() => index.apply(twice));
  assert.equal(index.position(), 1);
  assert.equal(tasksBy(index.database, { order: "quietest", from: 0, limit: 5 })[0]?.tokens, 0);
  index.close();
});

test("an index of other events is made anew: of another store, or ahead of what there is", (t) => {
  const folder = tempFolder(t);
  const open = (of: { salt: string; last: number }) => openInsightDatabase(folder, of);
  const first = open({ salt, last: 2 });
  first.apply(batch(created, spent(2)));
  first.close();
  const ahead = open({ salt, last: 1 });
  assert.deepEqual([ahead.position(), found(ahead.database, "gyroscope")], [0, 0]);
  ahead.apply(batch(created));
  ahead.close();
  const other = open({ salt: "def", last: 5 });
  assert.equal(other.position(), 0);
  other.close();
  removeInsight(folder);
  assert.ok(!existsSync(join(folder, "insight.db")));
});

test("a goal is on the board from the moment it is handed over, and its cost is that of its whole tree", (t) => {
  const index = openInsightDatabase(tempFolder(t), { salt, last: 9 });
  const manager: TaskEvent = { ...created, data: { ...created.data, runner: "manager", prompt: "Reach the moon" } };
  const child = { ...spent(3), task: taskName(salt, 2) };
  index.apply(batch(manager, spent(2), child));
  const { goals } = boardOf(index.database, { status: null, folder: null, before: 1e9, limit: 5, folders: false });
  assert.partialDeepStrictEqual(goals, [{ root: 1, text: "Reach the moon", status: "pending", tokens: 10, money: 14 }]);
  index.apply(batch({ ...base, seq: 4, type: "task.canceled", data: { reason: "no" } }));
  const ended = boardOf(index.database, { status: "abandoned", folder: null, before: 1e9, limit: 5, folders: false });
  assert.equal(ended.goals[0]?.ended_at, 60_000);
  index.close();
});

test("calls in another form are counted over time, each as often as it occurred", (t) => {
  const index = openInsightDatabase(tempFolder(t), { salt, last: 9 });
  const drifted = (seq: number, count: number): TaskEvent => ({
    ...base,
    seq,
    at: seq * 60_000,
    type: "call.drifted",
    data: { kind: "key_alias", message: "other keys", count },
  });
  index.apply(batch(created, drifted(2, 3)));
  index.apply(batch(drifted(3, 1)));
  const [point] = seriesOf(index.database, { from: 0, to: 6e6, bucketMs: 6e6 });
  assert.equal(point?.drifts, 4);
  index.close();
});

test("what was used is counted, however much somebody says that it was", (t) => {
  const index = openInsightDatabase(tempFolder(t), { salt, last: 9 });
  const most = Number.MAX_SAFE_INTEGER;
  const claimed = (seq: number): TaskEvent => ({
    ...base,
    seq,
    at: seq * 60_000,
    type: "step.finished",
    data: { key: "k", outcome: "ok", tokens: most, money_micro_usd: most },
  });
  index.apply(batch({ ...created, data: { ...created.data, runner: "manager" } }, claimed(2), claimed(3)));
  index.apply(batch(claimed(4), claimed(5)));
  const [row] = tasksBy(index.database, { order: "quietest", from: 0, limit: 5 });
  assert.equal(row?.tokens, most);
  const { goals } = boardOf(index.database, { status: null, folder: null, before: 1e9, limit: 5, folders: false });
  assert.equal(goals[0]?.money, most);
  const [point] = seriesOf(index.database, { from: 0, to: 6e6, bucketMs: 6e6 });
  assert.partialDeepStrictEqual(point, { tokens: most, money: most, created: 1 });
  index.close();
});

test("texts are bounded, however long or deep they are", () => {
  let deep: unknown = "core";
  for (let level = 0; level < 5_000; level += 1) deep = [deep];
  const wide = Array.from({ length: 100_000 }, (_, n) => `word${n}`);
  for (const content of [deep, wide, "x".repeat(1_000_000), { a: wide, b: deep }]) {
    const { texts } = batch({ ...base, seq: 1, type: "task.completed", data: { content } });
    assert.ok((texts[0]?.text.length ?? 0) <= 16_000);
  }
});
