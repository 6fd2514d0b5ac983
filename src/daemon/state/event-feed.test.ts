import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { taskRow as row } from "../../../test/support/task-row.ts";
import { codeOf } from "../../../test/support/engine-kit.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { taskName } from "../../store/names.ts";
import { openStore } from "../../store/sqlite/sqlite-store.ts";
import { openView } from "../../store/sqlite/sqlite-view.ts";
import type { Store } from "../../store/store.ts";
import type { StoreView } from "../../store/view.ts";
import { type EventFeed, eventFeed, type FeedEvent } from "./event-feed.ts";

interface Fed {
  readonly store: Store;
  readonly view: StoreView;
  readonly feed: EventFeed;
  /** Reads of new rows that were made. */
  readonly reads: () => number;
}

function fed(t: { after(fn: () => void): void }): Fed {
  const folder = tempFolder(t);
  const store = openStore(folder);
  const view = openView(folder);
  let reads = 0;
  const counting: StoreView = {
    ...view,
    eventsAfter(after, limit) {
      reads += 1;
      return view.eventsAfter(after, limit);
    },
  };
  const feed = eventFeed(store, counting);
  t.after(() => {
    feed.close();
    view.close();
    store.close();
  });
  return { store, view, feed, reads: () => reads };
}

const emitted = new WeakMap<Store, number>();

/** A task with its run; its events are told one by one, and `happen` returns the sequence the event will have. */
function addTask(store: Store, parent: number | null = null): { readonly id: number; readonly happen: () => number } {
  const id = store.addTask({ ...row, parent, root: parent });
  const run = store.addRun({ task: id, attempt: 1, run: 1, body: null });
  const happen = (): number => {
    store.addEvent({ run, at: 1, type: "task.resumed", body: null });
    const seq = (emitted.get(store) ?? 0) + 1;
    emitted.set(store, seq);
    return seq;
  };
  return { id, happen };
}

const seqs = (events: readonly FeedEvent[]): number[] => events.map(({ event }) => event.seq);

test("every subscriber is told every event in order, with one read per commit however many there are", async (t) => {
  const { store, feed, reads } = fed(t);
  const { happen } = addTask(store);
  await store.committed();
  const heard = Array.from({ length: 50 }, (): FeedEvent[] => []);
  for (const mine of heard) feed.subscribe((events) => mine.push(...events));
  const ids: number[] = [];
  for (let commit = 0; commit < 10; commit += 1) {
    ids.push(happen(), happen());
    await store.committed();
  }
  for (const mine of heard) assert.deepEqual(seqs(mine), ids);
  assert.equal(reads(), 10);
  assert.equal(feed.position, ids.at(-1));
  assert.equal(heard[0]?.[3]?.json, JSON.stringify(heard[0]?.[3]?.event));
  assert.equal(heard[0]?.[3], heard[49]?.[3], "made once for all");
});

test("what is queued is not told before its commit", async (t) => {
  const { store, feed } = fed(t);
  const { happen } = addTask(store);
  const heard: FeedEvent[] = [];
  feed.subscribe((events) => heard.push(...events));
  happen();
  assert.deepEqual([heard, feed.read({ after: 0, limit: 9 }), feed.position], [[], [], 0]);
  await store.committed();
  assert.deepEqual([heard.length, feed.position], [1, 1]);
});

test("more events in one commit than are read at a time are all told, in order", async (t) => {
  const { store, feed } = fed(t);
  const { happen } = addTask(store);
  const heard: number[] = [];
  feed.subscribe((events) => heard.push(...seqs(events)));
  const ids = Array.from({ length: 1_300 }, happen);
  await store.committed();
  assert.deepEqual(heard, ids);
});

test("invariant 9: readers that catch up, drop and return at any moment miss nothing and see nothing twice", async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.oneof(
          { weight: 4, arbitrary: fc.record({ do: fc.constant("write" as const), n: fc.integer({ min: 1, max: 7 }) }) },
          { weight: 2, arbitrary: fc.record({ do: fc.constant("commit" as const) }) },
          {
            weight: 3,
            arbitrary: fc.record({ do: fc.constantFrom("join" as const, "drop" as const), who: fc.nat(2) }),
          },
        ),
        { maxLength: 40 },
      ),
      fc.integer({ min: 1, max: 5 }),
      async (moves, limit) => {
        const { store, feed } = fed(t);
        const { happen } = addTask(store);
        const written: number[] = [];
        const readers = Array.from({ length: 3 }, () => ({
          heard: [] as number[],
          off: undefined as (() => void) | undefined,
        }));
        const join = (reader: (typeof readers)[number]): void => {
          if (reader.off !== undefined) return;
          for (let full = true; full;) {
            const page = feed.read({ after: reader.heard.at(-1) ?? 0, limit });
            reader.heard.push(...seqs(page));
            full = page.length === limit;
          }
          reader.off = feed.subscribe((events) => reader.heard.push(...seqs(events)));
        };
        for (const move of moves) {
          if (move.do === "write") for (let n = 0; n < move.n; n += 1) written.push(happen());
          else if (move.do === "commit") await store.committed();
          else {
            const reader = readers[move.who];
            if (reader === undefined) continue;
            if (move.do === "join") join(reader);
            else {
              reader.off?.();
              reader.off = undefined;
            }
          }
        }
        await store.committed();
        for (const reader of readers) {
          reader.off?.();
          reader.off = undefined;
          join(reader);
          assert.deepEqual(reader.heard, written);
        }
      },
    ),
    { numRuns: 60 },
  );
});

test("who subscribes from inside a listener is told what is committed later, not the batch that is being told", async (t) => {
  const { store, feed } = fed(t);
  const { happen } = addTask(store);
  const inner: number[] = [];
  const off = feed.subscribe(() => {
    off();
    inner.push(...seqs(feed.read({ after: 0, limit: 99 })));
    feed.subscribe((events) => inner.push(...seqs(events)));
  });
  const ids = [happen()];
  await store.committed();
  ids.push(happen());
  await store.committed();
  assert.deepEqual(inner, ids);
});

test("a listener that fails keeps nothing from the others, and is not hidden", async (t) => {
  const { store, view } = fed(t);
  const { happen } = addTask(store);
  let tell: (() => void) | undefined;
  const feed = eventFeed({ failure: undefined, onCommit: (listener) => ((tell = listener), () => undefined) }, view);
  const heard: number[] = [];
  const off = feed.subscribe(() => {
    throw new Error("a mistake");
  });
  feed.subscribe((events) => heard.push(...seqs(events)));
  const ids = [happen()];
  await store.committed();
  assert.throws(() => tell?.(), /a mistake/);
  off();
  ids.push(happen());
  await store.committed();
  tell?.();
  assert.deepEqual(heard, ids);
});

test("a task's events are its own and those below it; a task that does not exist is told so", async (t) => {
  const { store, view, feed } = fed(t);
  const root = addTask(store);
  const other = addTask(store);
  const kid = addTask(store, root.id);
  const mine: number[] = [];
  for (let turn = 0; turn < 5; turn += 1) {
    mine.push(root.happen());
    other.happen();
    mine.push(kid.happen());
  }
  await store.committed();
  const task = taskName(view.salt, root.id);
  assert.deepEqual(seqs(feed.read({ after: 0, limit: 99, task })), mine);
  assert.deepEqual(seqs(feed.read({ after: mine[2] ?? 0, limit: 3, task })), mine.slice(3, 6));
  const missing = Promise.resolve().then(() => feed.read({ after: 0, limit: 9, task: taskName(view.salt, 99) }));
  assert.equal(await codeOf(missing), "not_found");
});

test("a closed feed tells nobody", async (t) => {
  const { store, feed } = fed(t);
  const { happen } = addTask(store);
  const heard: FeedEvent[] = [];
  feed.subscribe((events) => heard.push(...events));
  feed.close();
  happen();
  await store.committed();
  assert.deepEqual(heard, []);
});
