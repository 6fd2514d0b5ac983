// The lane to one provider with one key: limits how many calls run at once, and pauses all of them when the provider asks for it.

import { TuttiError } from "../protocol/error.ts";
import type { Clock } from "../ports.ts";

export interface LaneOptions {
  readonly clock: Clock;
  /** The most calls at once. Fewer run while the provider throttles. */
  readonly maxCalls: number;
  /** A call that would have to wait longer fails instead. */
  readonly maxWaitMs: number;
  /** The provider's name in errors. */
  readonly name: string;
  readonly random: () => number;
}

/** The permission to make one call. Exactly one of its methods must be called, once. */
export interface Permit {
  /** The call succeeded: the number of calls at once grows by one per round of successful calls. */
  succeeded(): void;
  /** The call failed for another reason than throttling. */
  failed(): void;
  /** The provider throttled the call: half as many calls run, after a pause for all of them. Returns how long that is. */
  throttled(waitMs: number | undefined): number;
}

export interface Lane {
  /** Waits until the call may be made. With `again` it was throttled before and goes ahead of new calls. */
  acquire(options: { readonly signal: AbortSignal; readonly again: boolean }): Promise<Permit>;
}

interface Waiter {
  readonly go: () => void;
  readonly stop: (reason: unknown) => void;
}

const firstPauseMs = 1_000;
const longestPauseMs = 60_000;

export function openLane({ clock, maxCalls, maxWaitMs, name, random }: LaneOptions): Lane {
  let allowed = maxCalls;
  let running = 0;
  let pausedUntil = 0;
  /** How often in a row the lane was throttled; decides the pause when the provider names none. */
  let throttles = 0;
  /** How often the limit was halved. A throttled call that began before the last time must not halve it again. */
  let halvings = 0;
  let wake: (() => void) | undefined;
  const queue: Waiter[] = [];

  const waitTooLong = (): TuttiError | undefined => {
    const waitMs = pausedUntil - clock.now();
    if (waitMs <= maxWaitMs) return undefined;
    return new TuttiError(
      "busy",
      `${name} asks for a pause of ${Math.ceil(waitMs / 1000)} s; try again then, or raise max_wait_ms`,
      { details: { retry_after_ms: waitMs } },
    );
  };

  const hasRoom = (): boolean => running < Math.max(1, Math.floor(allowed));

  const startWaiting = (): void => {
    const wait = pausedUntil - clock.now();
    if (wait > 0) {
      if (queue.length > 0) wake ??= clock.timer(wait, onWake);
      return;
    }
    while (queue.length > 0 && hasRoom()) queue.shift()?.go();
  };
  const onWake = (): void => {
    wake = undefined;
    startWaiting();
  };

  const grant = (): Permit => {
    running += 1;
    const since = halvings;
    const done = (): void => {
      running -= 1;
      startWaiting();
    };
    return {
      succeeded() {
        throttles = 0;
        allowed = Math.min(maxCalls, allowed + 1 / allowed);
        done();
      },
      failed: done,
      throttled(waitMs) {
        if (since === halvings) {
          halvings += 1;
          allowed = Math.max(1, allowed / 2);
          throttles += 1;
        }
        const backoff = Math.min(longestPauseMs, firstPauseMs * 2 ** (throttles - 1)) * (0.5 + random() / 2);
        // Spread at random, since other processes with the same key were given the same time.
        const pause = waitMs === undefined ? backoff : waitMs * (1 + random() / 10);
        pausedUntil = Math.max(pausedUntil, clock.now() + pause);
        wake?.();
        wake = undefined;
        const refusal = waitTooLong();
        if (refusal !== undefined) for (const waiter of queue.splice(0)) waiter.stop(refusal);
        done();
        return pausedUntil - clock.now();
      },
    };
  };

  return {
    acquire({ signal, again }) {
      return new Promise<Permit>((resolve, reject) => {
        signal.throwIfAborted();
        const refusal = waitTooLong();
        if (refusal !== undefined) throw refusal;
        if (queue.length === 0 && hasRoom() && pausedUntil <= clock.now()) return resolve(grant());
        const leave = (): void => {
          const at = queue.indexOf(waiter);
          if (at >= 0) queue.splice(at, 1);
          waiter.stop(signal.reason);
        };
        const waiter: Waiter = {
          go() {
            signal.removeEventListener("abort", leave);
            resolve(grant());
          },
          stop(reason) {
            signal.removeEventListener("abort", leave);
            reject(reason);
          },
        };
        signal.addEventListener("abort", leave, { once: true });
        if (again) queue.unshift(waiter);
        else queue.push(waiter);
        startWaiting();
      });
    },
  };
}
