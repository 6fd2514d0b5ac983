// A pause of all new work: kept over restarts, with the times it lasted, which count against nobody's time.

import { z } from "zod";

import type { Clock } from "../ports.ts";
import type { Store } from "../store/store.ts";
import { type LiveTask, stopClock } from "./live-task.ts";
import type { Slots } from "./slots.ts";

export const pauseSetting = "paused";
/** Pauses that are remembered; past that the two oldest count as one. */
const remembered = 1_000;

const Span = z.tuple([z.number(), z.number()]);

const Pauses = z.object({
  /** Since when there is one; null when there is none. */
  since: z.number().nullable(),
  /** From, to; oldest first, as far back as a task can ask. */
  past: z.array(Span),
});
type Pauses = z.infer<typeof Pauses>;

export function pausesIn(store: Pick<Store, "setting">): Pauses {
  const kept = store.setting(pauseSetting);
  return kept === undefined ? { since: null, past: [] } : Pauses.parse(JSON.parse(kept));
}

/** When the clock of a task made at `madeAt` was stopped (1) and went on (-1). */
export function clockStops(
  { since, past }: Pauses,
  madeAt: number,
): { readonly at: number; readonly change: 1 | -1 }[] {
  const during = past.filter(([, to]) => to > madeAt);
  const moves = during.flatMap(([from, to]) => [
    { at: Math.max(from, madeAt), change: 1 as const },
    { at: to, change: -1 as const },
  ]);
  return since === null ? moves : [...moves, { at: Math.max(since, madeAt), change: 1 as const }];
}

interface PauseDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly slots: Slots;
  readonly tasks: () => Iterable<LiveTask>;
  /** There are tasks in other processes. */
  readonly sharesStore: boolean;
}

export class PauseSwitch {
  readonly #deps: PauseDeps;
  #pauses: Pauses;
  #draining = false;
  /** The batch of the store in which this process last recorded a pause or its end. */
  #recordedIn: number | undefined;

  /** Goes on with the pause the store knows of. */
  constructor(deps: PauseDeps) {
    this.#deps = deps;
    this.#pauses = pausesIn(deps.store);
    if (this.isOn) deps.slots.pause();
  }

  get isOn(): boolean {
    return this.#pauses.since !== null;
  }

  /** Tutti is being stopped, and steps under way are given time to finish. */
  get isStopping(): boolean {
    return this.#draining;
  }

  async begin(): Promise<void> {
    const { store, clock, slots, tasks } = this.#deps;
    if (!this.isOn) {
      const now = clock.now();
      slots.pause();
      for (const task of tasks()) stopClock(task, 1, now);
      this.#keep({ since: now, past: this.#stillAsked() });
    }
    await store.committed();
  }

  async end(): Promise<void> {
    const { store, clock, slots, tasks } = this.#deps;
    const { since } = this.#pauses;
    if (since !== null) {
      const now = clock.now();
      for (const task of tasks()) stopClock(task, -1, now);
      this.#keep({ since: null, past: [...this.#stillAsked(), [since, now]] });
    }
    await store.committed();
    // Only now: what begins must not be found paused by a restart.
    if (!this.isOn && !this.#draining) slots.resume();
  }

  /** Does what another process that shares the store has recorded. */
  follow(): void {
    const { store, clock, slots, tasks } = this.#deps;
    // What this process records itself is newer than what can be read.
    if (this.#recordedIn !== undefined && !store.isDurable(this.#recordedIn)) return;
    const recorded = pausesIn(store);
    const before = this.#pauses.since;
    this.#pauses = recorded;
    if (recorded.since === before) return;
    const ended = recorded.past.at(-1)?.[1] ?? clock.now();
    for (const task of tasks()) {
      if (before !== null) stopClock(task, -1, ended);
      if (recorded.since !== null) stopClock(task, 1, Math.max(recorded.since, task.createdAt));
    }
    if (recorded.since !== null) slots.pause();
    else if (!this.#draining) slots.resume();
  }

  /** A task made meanwhile has its clock stopped from the first. */
  madeMeanwhile(task: LiveTask): void {
    if (this.isOn) stopClock(task, 1, task.createdAt);
  }

  /** For a stop: nothing begins any more, and nothing of that is kept. */
  drain(): Promise<void> {
    this.#draining = true;
    this.#deps.slots.pause();
    return this.#deps.slots.empty();
  }

  #keep(pauses: Pauses): void {
    this.#pauses = pauses;
    this.#recordedIn = this.#deps.store.batch;
    this.#deps.store.putSetting(pauseSetting, JSON.stringify(pauses));
  }

  /** Those that ended before the oldest task was made are of no use to anybody. */
  #stillAsked(): [number, number][] {
    let oldest = Number.POSITIVE_INFINITY;
    if (this.#deps.sharesStore) oldest = 0;
    else for (const task of this.#deps.tasks()) oldest = Math.min(oldest, task.createdAt);
    const kept = this.#pauses.past.filter(([, to]) => to > oldest);
    const [first, second, ...rest] = kept;
    if (kept.length < remembered || first === undefined || second === undefined) return kept;
    return [[first[0], second[1]], ...rest];
  }
}
