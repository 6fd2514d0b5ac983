// Waits for something that can only be asked for, such as the state of another process.

import { setTimeout as sleep } from "node:timers/promises";

const pollMs = 50;

/** Calls `check` until it returns something, or until `ms` have passed: then this returns undefined. */
export async function pollUntil<T>(ms: number, check: () => Promise<T | undefined>): Promise<T | undefined> {
  for (const until = Date.now() + ms; ; await sleep(pollMs)) {
    const found = await check();
    if (found !== undefined || Date.now() >= until) return found;
  }
}
