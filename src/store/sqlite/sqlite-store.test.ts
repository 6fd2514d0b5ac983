import assert from "node:assert/strict";
import { test } from "node:test";

import { taskRow as row } from "../../../test/support/task-row.ts";
import { seen } from "../../../test/support/engine-kit.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import type { Store } from "../store.ts";
import { openStore } from "./sqlite-store.ts";

const line = {
  at: 1,
  kind: "ok",
  type: "step.finished",
  input: 0,
  tokens: 0,
  money: 0,
  body: null,
  state: null,
  mail: null,
} as const;

/** A tree of three: a root with two children, the second of them a parent. */
function tree(store: Store): number[] {
  const root = store.addTask(row);
  const child = (parent: number, depth: number): number => store.addTask({ ...row, parent, root, depth });
  const first = child(root, 1);
  const second = child(root, 1);
  return [root, first, second, child(second, 2)];
}

test("what is queued is read only after its commit, in one piece", async (t) => {
  const folder = tempFolder(t);
  const store = openStore(folder);
  t.after(() => store.close());
  let commits = 0;
  store.onCommit(() => (commits += 1));
  const [root = 0] = tree(store);
  assert.equal(store.task(root), undefined);
  assert.deepEqual(seen(folder, "SELECT id FROM tasks"), []);
  await store.committed();
  assert.deepEqual([store.task(root)?.root, store.tree(root).length, commits], [root, 4, 1]);
  await store.committed();
  assert.equal(commits, 1, "nothing was queued, so nothing was committed");
});

test("ids go on where they were after the store is opened again, and its names stay", async (t) => {
  const folder = tempFolder(t);
  const first = openStore(folder);
  const ids = tree(first);
  first.close();
  const second = openStore(folder);
  t.after(() => second.close());
  assert.equal(second.salt, first.salt);
  assert.equal(second.addTask(row), (ids.at(-1) ?? 0) + 1);
});

test("open tasks come with all their ancestors, parents first", async (t) => {
  const store = openStore(tempFolder(t));
  t.after(() => store.close());
  const [root = 0, first = 0, second = 0, last = 0] = tree(store);
  for (const task of [root, first, second]) store.addResult({ task, status: "completed", at: 1, body: "{}" });
  await store.committed();
  assert.deepEqual(
    store.openTasks(root).map((task) => task.id),
    [root, second, last],
  );
});

test("a key leads to the task it was bound to last", async (t) => {
  const store = openStore(tempFolder(t));
  t.after(() => store.close());
  const [a, b] = [store.addTask(row), store.addTask(row)];
  store.bindKey("k", { task: a, content: "" });
  store.bindKey("k", { task: b, content: "for this" });
  await store.committed();
  assert.deepEqual([store.boundKey("k"), store.boundKey("other")], [{ task: b, content: "for this" }, undefined]);
});

test("what was spent is summed over all runs of a task", async (t) => {
  const store = openStore(tempFolder(t));
  t.after(() => store.close());
  const [root = 0, first = 0] = tree(store);
  for (const [attempt, task] of [
    [1, root],
    [2, root],
    [1, first],
  ] as const) {
    const run = store.addRun({ task, attempt, run: 1, body: null });
    store.addLog({ ...line, run, key: "a", tokens: 5, money: attempt });
    store.addLog({ ...line, run, key: "b", tokens: 1 });
  }
  await store.committed();
  assert.deepEqual(store.spentOf(root), [
    { task: root, tokens: 12, money: 3 },
    { task: first, tokens: 6, money: 1 },
  ]);
});

test("the same key twice in a run is refused by the table itself", async (t) => {
  const store = openStore(tempFolder(t));
  t.after(() => store.close());
  const [root = 0] = tree(store);
  const run = store.addRun({ task: root, attempt: 1, run: 1, body: null });
  await store.committed();
  for (const body of ["1", "2"]) store.addLog({ ...line, run, key: "a", body });
  await assert.rejects(store.committed(), { code: "io" });
  assert.equal(store.logAt(run, "a"), undefined);
  assert.equal(store.failure?.code, "io");
});
