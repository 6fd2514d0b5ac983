// Waits until the engines of a test have done all they can do without an answer from outside and without time passing.

import { setImmediate as nextTick } from "node:timers/promises";

import type { Store } from "../../src/store/store.ts";

/** A loop or a socket may take a few ticks from one commit to the next. */
const quietTicks = 12;
const patienceMs = 10_000;
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

/** A commit is on its way to a store on another machine. */
function isCommitting(): boolean {
  return [...watched].some((store) => !store.isDurable(store.batch - 1));
}

/** Resolves when no watched store has committed anything for some ticks of the event loop. */
export async function settle(): Promise<void> {
  const end = Date.now() + patienceMs;
  for (let quiet = 0; quiet < quietTicks; quiet += 1) {
    const before = commits;
    await nextTick();
    if (commits !== before || isCommitting()) quiet = 0;
    if (Date.now() > end) throw new Error(`there were still commits after ${patienceMs} ms`);
  }
}

/** Work that takes this many ticks, for bodies of steps and for schedules that must not wait for rest. */
export async function ticks(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTick();
}
