// Waits until the engines of a test have done all they can do without an answer from outside and without time passing.

import { setImmediate as nextTick } from "node:timers/promises";

import type { Store } from "../../src/store/store.ts";

/** A loop or a socket may take a few ticks from one commit to the next. */
const quietTicks = 12;
const patienceMs = 240_000;
let commits = 0;
const watched = new Set<Watched>();

type Watched = Pick<Store, "onCommit" | "failure" | "batch" | "isDurable">;

/** `settle` waits for what this store commits. The kits call it for every store they open. */
export function watchCommits(store: Watched): void {
  watched.add(store);
  store.onCommit(() => {
    commits += 1;
    if (store.failure !== undefined) watched.delete(store);
  });
}

let readsUnderWay = 0;
const followers = new Set<() => Promise<boolean>>();

/** `settle` waits until this read of a store on another machine has been answered. */
export async function counted<T>(read: Promise<T>): Promise<T> {
  readsUnderWay += 1;
  try {
    return await read;
  } finally {
    readsUnderWay -= 1;
  }
}

/** `settle` waits until whoever follows the events has been told of all that are committed. Returns what ends that. */
export function watchFollower(hasAll: () => Promise<boolean>): () => void {
  followers.add(hasAll);
  return () => followers.delete(hasAll);
}

/** A commit is on its way to a store on another machine, or an answer from it. */
function isTalking(): boolean {
  return readsUnderWay > 0 || [...watched].some((store) => !store.isDurable(store.batch - 1));
}

/** Resolves when no watched store has committed anything for some ticks of the event loop, and all has been told. */
export async function settle(): Promise<void> {
  const end = Date.now() + patienceMs;
  for (let quiet = 0; quiet < quietTicks; quiet += 1) {
    const before = commits;
    await nextTick();
    if (commits !== before || isTalking()) quiet = 0;
    if (quiet === quietTicks - 1 && !(await allTold(before))) quiet = 0;
    if (Date.now() > end) throw new Error(`there were still commits after ${patienceMs} ms`);
  }
}

async function allTold(before: number): Promise<boolean> {
  for (const hasAll of followers) if (!(await hasAll())) return false;
  return commits === before && !isTalking();
}

/** Work that takes this many ticks, for bodies of steps and for schedules that must not wait for rest. */
export async function ticks(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTick();
}
