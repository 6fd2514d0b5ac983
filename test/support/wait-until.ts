// Waiting in a test for something that happens elsewhere, with a limit.

import { setTimeout as sleep } from "node:timers/promises";

/** Nothing is measured by it: a machine may be ten times slower than another, and only what never comes should fail. */
const patienceMs = 240_000;
const lookEveryMs = 2;

/** Looks again and again until there is something, and returns it; fails after four minutes, or the time given. */
export async function until<T>(
  look: () => T | undefined | false | Promise<T | undefined | false>,
  what = look.toString(),
  ms = patienceMs,
): Promise<T> {
  for (const end = Date.now() + ms; ; await sleep(lookEveryMs)) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`this did not happen within ${ms} ms: ${what}`);
  }
}

/** Fails when the work takes longer. */
export async function within<T>(work: () => Promise<T>, what: string, ms = patienceMs): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not come within ${ms} ms`)), ms);
  });
  return Promise.race([work(), late]).finally(() => clearTimeout(timer));
}
