import assert from "node:assert/strict";
import { test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { pruneTrees } from "./prune-trees.ts";
import { openStore } from "./sqlite-store.ts";
import { openView } from "./sqlite-view.ts";

type Opened = ReturnType<typeof openStore>;

/** A root task that ended at this time; undefined when it has not ended. */
function root(store: Opened, ended: number | undefined): number {
  const id = store.addTask({
    parent: null,
    root: null,
    depth: 0,
    kind: "invocation",
    agent: "invocation",
    detached: false,
    created_at: 1,
    deadline: null,
    shared: null,
    body: "{}",
  });
  store.addRun({ task: id, attempt: 1, run: 1, body: null });
  if (ended !== undefined) store.addResult({ task: id, status: "completed", at: ended, body: "{}" });
  return id;
}

function thread(store: Opened, ...tasks: number[]): number {
  const row = { name: null, project: "", kind: "agent", created_at: 1, said_at: 1, forked_from: null } as const;
  const id = store.addThread(row);
  tasks.forEach((task, at) => store.addThreadEntry({ thread: id, position: at + 1, task, until: null }, 1));
  return id;
}

test("a thread goes as a whole: its trees stay as long as the last of them, and as long as a fork needs them", async (t) => {
  const folder = tempFolder(t);
  const store = openStore(folder);
  const [alone, oldOne, oldTwo, shared, onlyOld, recent, begun, open] = [5, 5, 6, 5, 6, 50, 5, undefined].map((ended) =>
    root(store, ended),
  ) as [number, number, number, number, number, number, number, number];
  const old = thread(store, oldOne, oldTwo);
  const trunk = thread(store, shared, onlyOld);
  const fork = thread(store, shared, recent);
  const answering = thread(store, begun, open);
  await store.committed();
  store.close();

  assert.equal(
    pruneTrees(folder, { endedBefore: 6 }).trees,
    1,
    "only the tree that belongs to no thread is old enough",
  );
  assert.equal(pruneTrees(folder, { endedBefore: 10 }).trees, 3);

  const view = openView(folder);
  t.after(() => view.close());
  const left = async (id: number): Promise<boolean> => (await view.place(id)) !== undefined;
  const trees = [alone, oldOne, oldTwo, shared, onlyOld, recent, begun, open];
  assert.deepEqual(await Promise.all(trees.map(left)), [false, false, false, true, false, true, true, true]);
  const threads = await Promise.all([old, trunk, fork, answering].map((id) => view.threadListing(id)));
  assert.deepEqual(
    threads.map((row) => row?.entries),
    [undefined, undefined, 2, 2],
  );
  assert.deepEqual(
    (await view.threadEntries(fork, { after: 0, limit: 10 })).map(({ task }) => task),
    [shared, recent],
  );

  const again = openStore(folder);
  assert.ok(thread(again, shared) > answering, "the id of a thread is never given again");
  again.close();
});
