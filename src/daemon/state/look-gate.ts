// Looks that start processes, such as git: few run at once, few wait, the same one is shared, and it ends when nobody waits for it any more.

import { TuttiError } from "../../protocol/error.ts";

export interface LookLimits {
  readonly atOnce: number;
  /** Beyond so many that wait, further ones are refused instead of making everybody wait. */
  readonly waiting: number;
}

const defaultLimits: LookLimits = { atOnce: 4, waiting: 64 };

type Looking<T> = (signal: AbortSignal) => Promise<T>;

export interface LookGate {
  /** Runs the look as soon as there is room. Throws `slow_down` when too many wait already. */
  readonly enter: <T>(signal: AbortSignal, look: Looking<T>) => Promise<T>;
  /** Resolves when no look runs. */
  readonly idle: () => Promise<void>;
}

export function lookGate({ atOnce, waiting }: LookLimits = defaultLimits): LookGate {
  const running = new Set<Promise<unknown>>();
  const queue = new Set<() => void>();
  let taken = 0;

  /** Whoever waits longest gets the place of whoever leaves. */
  const giveBack = (): void => {
    const [first] = queue;
    if (first === undefined) taken -= 1;
    else {
      queue.delete(first);
      first();
    }
  };
  const place = async (signal: AbortSignal): Promise<void> => {
    if (taken < atOnce) {
      taken += 1;
      return;
    }
    if (queue.size >= waiting) {
      throw new TuttiError("slow_down", "much is being looked at here already; ask again in a moment");
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = (): void => {
      // One that has its place already gives it back itself.
      if (queue.delete(resolve)) reject(signal.reason);
    };
    queue.add(resolve);
    signal.addEventListener("abort", leave, { once: true });
    await promise.finally(() => signal.removeEventListener("abort", leave));
  };
  const run = async <T>(signal: AbortSignal, look: Looking<T>): Promise<T> => {
    signal.throwIfAborted();
    return look(signal);
  };
  return {
    async enter(signal, look) {
      signal.throwIfAborted();
      await place(signal);
      const done = run(signal, look);
      running.add(done);
      try {
        return await done;
      } finally {
        running.delete(done);
        giveBack();
      }
    },
    async idle() {
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}

/** Undefined is a caller that does not go away. */
export type SharedLooks<T> = (key: string, signal: AbortSignal | undefined, look: Looking<T>) => Promise<T>;

interface Shared<T> {
  readonly result: Promise<T>;
  readonly ending: AbortController;
  waiting: number;
}

/** Who asks for the same while it is being looked at gets the same answer. `stopping` ends all looks. */
export function sharedLooks<T>(gate: LookGate, stopping?: AbortSignal): SharedLooks<T> {
  const open = new Map<string, Shared<T>>();

  const begin = (key: string, look: Looking<T>): Shared<T> => {
    const ending = new AbortController();
    const onStop = (): void => ending.abort(new TuttiError("stopped", "Tutti is being stopped"));
    stopping?.addEventListener("abort", onStop, { once: true });
    if (stopping?.aborted === true) onStop();
    const result = gate.enter(ending.signal, look).finally(() => {
      stopping?.removeEventListener("abort", onStop);
      if (open.get(key) === shared) open.delete(key);
    });
    const shared: Shared<T> = { result, ending, waiting: 0 };
    open.set(key, shared);
    return shared;
  };
  return async (key, signal, look) => {
    signal?.throwIfAborted();
    const shared = open.get(key) ?? begin(key, look);
    shared.waiting += 1;
    const { promise: left, reject } = Promise.withResolvers<never>();
    const leave = (): void => reject(signal?.reason);
    signal?.addEventListener("abort", leave, { once: true });
    try {
      return await Promise.race([shared.result, left]);
    } finally {
      signal?.removeEventListener("abort", leave);
      shared.waiting -= 1;
      if (shared.waiting === 0) {
        // A new one must not wait for what is being ended.
        if (open.get(key) === shared) open.delete(key);
        shared.ending.abort(new TuttiError("canceled", "nobody waits for it any more"));
      }
    }
  };
}
