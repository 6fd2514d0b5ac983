// How the client waits before it tries again, and which failures are worth another try.

import { errorTable, TuttiError } from "../protocol/error.ts";

const firstMs = 100;
const longestMs = 5_000;

/** Doubles from a tenth of a second to five, each time up to half of it less, so that many clients do not come at once. */
export function delayBefore(tries: number): number {
  const full = Math.min(longestMs, firstMs * 2 ** Math.min(tries, 16));
  return full * (1 - Math.random() / 2);
}

/** Returns early, and quietly, when the signal says so. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted === true) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done, { once: true });
  });
}

/** The service was not there, was stopping, had too much to do, or stumbled: the same call may succeed a little later. */
export function mayPass(thrown: unknown): boolean {
  if (!(thrown instanceof TuttiError)) return false;
  // An answer of another version is not going to change.
  if (thrown.code === "newer" || thrown.code === "corrupt") return false;
  return thrown.code === "slow_down" || errorTable[thrown.code].http >= 500;
}

export interface Patience {
  /** How long the service may be away before the last failure is thrown. */
  readonly awayMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Calls until it succeeds, fails for good, or the service was away too long. Only for calls that may be made twice. */
export async function patiently<T>(call: () => Promise<T>, { awayMs, signal }: Patience): Promise<T> {
  const since = Date.now();
  for (let tries = 0; ; tries += 1) {
    try {
      return await call();
    } catch (thrown) {
      if (!mayPass(thrown) || Date.now() - since >= awayMs) throw thrown;
    }
    await pause(Math.min(delayBefore(tries), Math.max(0, awayMs - (Date.now() - since))), signal);
    signal?.throwIfAborted();
  }
}
