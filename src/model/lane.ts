// The way to one provider with one key: how many calls are under way at once, and since when it wants a pause.

import { TuttiError } from "../protocol/error.ts";
import type { Clock } from "../ports.ts";

export interface LaneOptions {
  readonly clock: Clock;
  /** The most calls at once; how many are allowed now is learnt from the provider. */
  readonly most: number;
  /** Who would have to wait longer is told so instead. */
  readonly maxWaitMs: number;
  /** What to call it in an error. */
  readonly name: string;
  readonly random: () => number;
}

/** A call's leave to be under way; used exactly once. */
export interface Pass {
  /** It went well: one more may go with every round of calls that do. */
  passed(): void;
  /** It went wrong for reasons of its own. */
  failed(): void;
  /** The provider wants fewer: half as many go, after a pause that holds for everybody. */
  throttled(waitMs: number | undefined): void;
}

export interface Lane {
  /** `again`: it was turned away before and goes before those who were not yet. */
  enter(options: { readonly signal: AbortSignal; readonly again: boolean }): Promise<Pass>;
}

interface Waiter {
  readonly go: () => void;
  readonly stop: (reason: unknown) => void;
}

const firstPauseMs = 1_000;
const longestPauseMs = 60_000;

export function openLane({ clock, most, maxWaitMs, name, random }: LaneOptions): Lane {
  let allowed = most;
  let running = 0;
  let until = 0;
  /** Throttled calls in a row, for the pause when the provider names none. */
  let row = 0;
  /** Counts the cuts: calls that set out before the last one say nothing new. */
  let cuts = 0;
  let wake: (() => void) | undefined;
  const queue: Waiter[] = [];

  const tooLong = (): TuttiError | undefined => {
    const waitMs = until - clock.now();
    if (waitMs <= maxWaitMs) return undefined;
    return new TuttiError(
      "busy",
      `${name} wants a pause of ${Math.ceil(waitMs / 1000)} s; try again then, or raise max_wait_ms`,
      { details: { retry_after_ms: waitMs } },
    );
  };

  const pump = (): void => {
    const wait = until - clock.now();
    if (wait > 0) {
      if (queue.length > 0) wake ??= clock.timer(wait, woken);
      return;
    }
    while (queue.length > 0 && running < Math.max(1, Math.floor(allowed))) queue.shift()?.go();
  };
  const woken = (): void => {
    wake = undefined;
    pump();
  };

  const pass = (): Pass => {
    running += 1;
    const since = cuts;
    const done = (): void => {
      running -= 1;
      pump();
    };
    return {
      passed() {
        row = 0;
        allowed = Math.min(most, allowed + 1 / allowed);
        done();
      },
      failed: done,
      throttled(waitMs) {
        if (since === cuts) {
          cuts += 1;
          allowed = Math.max(1, allowed / 2);
          row += 1;
        }
        const backoff = Math.min(longestPauseMs, firstPauseMs * 2 ** (row - 1)) * (0.5 + random() / 2);
        // Not one instant for all: whoever shares the key elsewhere was told the same.
        const pause = waitMs === undefined ? backoff : waitMs * (1 + random() / 10);
        until = Math.max(until, clock.now() + pause);
        wake?.();
        wake = undefined;
        const refusal = tooLong();
        if (refusal !== undefined) for (const waiter of queue.splice(0)) waiter.stop(refusal);
        done();
      },
    };
  };

  return {
    async enter({ signal, again }) {
      signal.throwIfAborted();
      const refusal = tooLong();
      if (refusal !== undefined) throw refusal;
      return new Promise<Pass>((resolve, reject) => {
        const leave = (): void => {
          const at = queue.indexOf(waiter);
          if (at >= 0) queue.splice(at, 1);
          waiter.stop(signal.reason);
        };
        const waiter: Waiter = {
          go() {
            signal.removeEventListener("abort", leave);
            resolve(pass());
          },
          stop(reason) {
            signal.removeEventListener("abort", leave);
            reject(reason);
          },
        };
        signal.addEventListener("abort", leave, { once: true });
        if (again) queue.unshift(waiter);
        else queue.push(waiter);
        pump();
      });
    },
  };
}
