import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../../test/support/properties.ts";

import { taskRow as row } from "../../../test/support/task-row.ts";
import { codeOf } from "../../../test/support/engine-kit.ts";
import { lateView } from "../../../test/support/late-view.ts";
import { openStoreIn, readsOfStoreIn } from "../../../test/support/stores.ts";
import { type Cleanup, tempFolder } from "../../../test/support/temp-folder.ts";
import { until } from "../../../test/support/wait-until.ts";
import { taskName } from "../../store/names.ts";
import type { Store } from "../../store/store.ts";
import type { StoreView } from "../../store/view.ts";
import { type EventFeed, type FeedEvent, openEventFeed } from "./event-feed.ts";

interface Fed {
  readonly store: Store;
  readonly view: StoreView;
  readonly feed: EventFeed;
  /** Reads of new rows that were made. */
  readonly reads: () => number;
}

interface FedOptions {
  readonly wrapView?: (view: StoreView) => StoreView;
  readonly onError?: (error: unknown) => void;
}

async function fed(t: Cleanup, { wrapView = (view) => view, onError }: FedOptions = {}): Promise<Fed> {
  const folder = tempFolder(t);
  const store = openStoreIn(folder);
  const read = readsOfStoreIn(folder, store);
  const view = wrapView(read.view);
  let reads = 0;
  const counting: StoreView = {
    ...view,
    eventsAfter(page) {
      reads += 1;
      return view.eventsAfter(page);
    },
  };
  const feed = await openEventFeed(read.news, counting, onError);
  t.after(() => {
    feed.close();
    view.close();
    store.close();
  });
  return { store, view, feed, reads: () => reads };
}

/** Resolves when everything that was written has been committed and passed on. */
async function passedOn({ store, feed }: Fed): Promise<void> {
  await store.committed();
  await until(() => feed.position >= (emitted.get(store) ?? 0), "the last event is passed on");
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

/** A reader as the feed wants it: it subscribes first, then reads, and drops what it is given twice. */
class Reader {
  readonly heard: number[] = [];
  readonly #feed: EventFeed;
  readonly #limit: number;
  /** What it is told while it reads. */
  #held: number[] | undefined;
  #off: (() => void) | undefined;

  constructor(feed: EventFeed, limit: number) {
    this.#feed = feed;
    this.#limit = limit;
  }

  async join(): Promise<void> {
    if (this.#off !== undefined) return;
    const held: number[] = [];
    this.#held = held;
    const off = this.#feed.subscribe((events) => {
      if (this.#held === held) held.push(...seqs(events));
      else this.#take(seqs(events));
    });
    this.#off = off;
    for (let full = true; full;) {
      const page = await this.#feed.read({ after: this.heard.at(-1) ?? 0, limit: this.#limit });
      if (this.#off !== off) return;
      this.#take(seqs(page.events));
      full = page.more;
    }
    this.#held = undefined;
    this.#take(held);
  }

  drop(): void {
    this.#off?.();
    this.#off = undefined;
  }

  #take(events: readonly number[]): void {
    const last = this.heard.at(-1) ?? 0;
    this.heard.push(...events.filter((seq) => seq > last));
  }
}

test("every subscriber is told every event in order, with one read per commit however many there are", async (t) => {
  const f = await fed(t);
  const { store, feed, reads } = f;
  const { happen } = addTask(store);
  await store.committed();
  await new Promise(setImmediate);
  const heard = Array.from({ length: 50 }, (): FeedEvent[] => []);
  for (const mine of heard) feed.subscribe((events) => mine.push(...events));
  const ids: number[] = [];
  for (let commit = 0; commit < 10; commit += 1) {
    ids.push(happen(), happen());
    await passedOn(f);
  }
  for (const mine of heard) assert.deepEqual(seqs(mine), ids);
  assert.equal(reads(), 10);
  assert.equal(feed.position, ids.at(-1));
  assert.equal(heard[0]?.[3]?.json, JSON.stringify(heard[0]?.[3]?.event));
  assert.equal(heard[0]?.[3], heard[49]?.[3], "made once for all");
});

test("what is queued is neither told nor read before its commit", async (t) => {
  const f = await fed(t);
  const { store, feed } = f;
  const { happen } = addTask(store);
  const heard: FeedEvent[] = [];
  feed.subscribe((events) => heard.push(...events));
  happen();
  assert.deepEqual([heard, (await feed.read({ after: 0, limit: 9 })).events, feed.position], [[], [], 0]);
  await passedOn(f);
  assert.deepEqual([heard.length, feed.position], [1, 1]);
});

test("more events in one commit than are read at a time are all told, in order", async (t) => {
  const f = await fed(t);
  const { happen } = addTask(f.store);
  const heard: number[] = [];
  f.feed.subscribe((events) => heard.push(...seqs(events)));
  const ids = Array.from({ length: 1_300 }, happen);
  await passedOn(f);
  assert.deepEqual(heard, ids);
});

type Move =
  | { readonly do: "write"; readonly n: number }
  | { readonly do: "commit" }
  | { readonly do: "join" | "drop"; readonly who: number };

const anyMoves = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant("write" as const), n: fc.integer({ min: 1, max: 7 }) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("commit" as const) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("join" as const, "drop" as const), who: fc.nat(2) }) },
  ),
  { maxLength: 40 },
);

/** Makes the moves without waiting for what they begin, and then looks at what every reader has heard. */
async function checkReaders(f: Fed, moves: readonly Move[], limit: number): Promise<void> {
  const { store, feed } = f;
  const { happen } = addTask(store);
  const written: number[] = [];
  const readers = Array.from({ length: 3 }, () => new Reader(feed, limit));
  const joining: Promise<void>[] = [];
  for (const move of moves) {
    if (move.do === "write") for (let n = 0; n < move.n; n += 1) written.push(happen());
    else if (move.do === "commit") await store.committed();
    else {
      const reader = readers[move.who];
      if (move.do === "drop") reader?.drop();
      else if (reader !== undefined) joining.push(reader.join());
    }
  }
  for (const reader of readers) joining.push(reader.join());
  await Promise.all(joining);
  await passedOn(f);
  for (const { heard } of readers) assert.deepEqual(heard, written);
}

test("invariant 9: readers that catch up, drop and return at any moment miss nothing and see nothing twice", async (t) => {
  await fc.assert(
    fc.asyncProperty(anyMoves, fc.integer({ min: 1, max: 5 }), async (moves, limit) =>
      checkReaders(await fed(t), moves, limit),
    ),
    { numRuns: 60 },
  );
});

test("invariant 9: the same holds when reads of the store take a while", async (t) => {
  await fc.assert(
    fc.asyncProperty(anyMoves, fc.integer({ min: 1, max: 5 }), async (moves, limit) =>
      checkReaders(await fed(t, { wrapView: lateView }), moves, limit),
    ),
    { numRuns: 30 },
  );
});

test("a subscriber that comes while the feed has no other and reads is told everything from then on", async (t) => {
  const asked = Promise.withResolvers<void>();
  const reply = Promise.withResolvers<void>();
  let held = false;
  const wrapView = (view: StoreView): StoreView => ({
    ...view,
    async lastEvent() {
      if (!held) return view.lastEvent();
      asked.resolve();
      await reply.promise;
      return view.lastEvent();
    },
  });
  const f = await fed(t, { wrapView });
  const { happen } = addTask(f.store);
  await f.store.committed();
  held = true;
  happen();
  await asked.promise;
  const heard: number[] = [];
  f.feed.subscribe((events) => heard.push(...seqs(events)));
  const second = happen();
  await f.store.committed();
  reply.resolve();
  await passedOn(f);
  assert.equal(heard.at(-1), second);
});

test("who subscribes from inside a listener is told what is committed later, not the batch that is being told", async (t) => {
  const f = await fed(t);
  const { happen } = addTask(f.store);
  const inner: number[] = [];
  const off = f.feed.subscribe(() => {
    off();
    f.feed.subscribe((events) => inner.push(...seqs(events)));
  });
  happen();
  await passedOn(f);
  const second = happen();
  await passedOn(f);
  assert.deepEqual(inner, [second]);
});

test("a listener that fails keeps nothing from the others, and is not hidden", async (t) => {
  const errors: unknown[] = [];
  const f = await fed(t, { onError: (error) => errors.push(error) });
  const { happen } = addTask(f.store);
  const heard: number[] = [];
  const off = f.feed.subscribe(() => {
    throw new Error("a mistake");
  });
  f.feed.subscribe((events) => heard.push(...seqs(events)));
  const ids = [happen()];
  await passedOn(f);
  assert.match(String(errors), /^Error: a mistake$/);
  off();
  ids.push(happen());
  await passedOn(f);
  assert.deepEqual(heard, ids);
  assert.equal(errors.length, 1);
});

test("a read that fails is reported and made again, also when nothing more is committed", async (t) => {
  const errors: unknown[] = [];
  let failures = 1;
  const wrapView = (view: StoreView): StoreView => ({
    ...view,
    eventsAfter: async (page) => {
      if (failures-- > 0) throw new Error("not reachable");
      return view.eventsAfter(page);
    },
  });
  const f = await fed(t, { wrapView, onError: (error) => errors.push(error) });
  const { happen } = addTask(f.store);
  const heard: number[] = [];
  f.feed.subscribe((events) => heard.push(...seqs(events)));
  const ids = [happen(), happen()];
  await passedOn(f);
  assert.match(String(errors), /^Error: not reachable$/);
  assert.deepEqual(heard, ids);
});

test("a task's events are its own and those below it; a task that does not exist is told so", async (t) => {
  const { store, view, feed } = await fed(t);
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
  assert.deepEqual(seqs((await feed.read({ after: 0, limit: 99, task })).events), mine);
  assert.deepEqual(seqs((await feed.read({ after: mine[2] ?? 0, limit: 3, task })).events), mine.slice(3, 6));
  assert.equal(await codeOf(feed.read({ after: 0, limit: 9, task: taskName(view.salt, 99) })), "not_found");
});

test("a closed feed tells nobody, also when it is closed while it reads and the read fails", async (t) => {
  const asked = Promise.withResolvers<void>();
  const reply = Promise.withResolvers<void>();
  const errors: unknown[] = [];
  const wrapView = (view: StoreView): StoreView => ({
    ...view,
    async eventsAfter(page) {
      asked.resolve();
      await reply.promise;
      return view.eventsAfter(page);
    },
  });
  const f = await fed(t, { wrapView, onError: (error) => errors.push(error) });
  const { happen } = addTask(f.store);
  const heard: FeedEvent[] = [];
  f.feed.subscribe((events) => heard.push(...events));
  happen();
  await asked.promise;
  f.feed.close();
  reply.reject(new Error("the view is closed"));
  happen();
  await f.store.committed();
  await new Promise(setImmediate);
  assert.deepEqual([heard, errors], [[], []]);
});
