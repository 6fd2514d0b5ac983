// A clock that stands still until it is told how much time has passed: tests of hours that take no time.

import type { Clock } from "../ports.ts";

export interface FakeClock extends Clock {
  /** Lets `ms` pass: every timer that is due by then fires, in the order of its time, each with the clock at that time. */
  advance(ms: number): void;
  /** Goes to the next timer and fires it; false when there is none. */
  next(): boolean;
}

interface Timer {
  readonly due: number;
  /** Breaks ties: of two timers for the same time the one set first fires first. */
  readonly order: number;
  readonly fire: () => void;
}

export function fakeClock(start = Date.UTC(2026, 0, 1)): FakeClock {
  let now = start;
  let order = 0;
  const timers = new Set<Timer>();

  const earliest = (): Timer | undefined => {
    let first: Timer | undefined;
    for (const timer of timers) {
      if (first === undefined || timer.due < first.due || (timer.due === first.due && timer.order < first.order)) {
        first = timer;
      }
    }
    return first;
  };
  const fire = (timer: Timer): void => {
    timers.delete(timer);
    now = Math.max(now, timer.due);
    timer.fire();
  };

  return {
    now: () => now,
    timer(ms, callback) {
      order += 1;
      const timer = { due: now + Math.max(0, ms), order, fire: callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(ms) {
      const end = now + ms;
      for (let timer = earliest(); timer !== undefined && timer.due <= end; timer = earliest()) fire(timer);
      now = Math.max(now, end);
    },
    next() {
      const timer = earliest();
      if (timer !== undefined) fire(timer);
      return timer !== undefined;
    },
  };
}
