// Real time.

import type { Clock } from "../ports.ts";

/** Node's timers hold at most 2^31 - 1 ms; longer waits are cut into pieces. */
const longest = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  timer(ms, fire) {
    let handle: NodeJS.Timeout;
    const arm = (remaining: number): void => {
      handle = remaining > longest ? setTimeout(() => arm(remaining - longest), longest) : setTimeout(fire, remaining);
    };
    arm(ms);
    return () => clearTimeout(handle);
  },
};
