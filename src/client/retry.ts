// Retries: which failures are worth another try, how long to wait before it, and when to give up.

import { errorTable, TuttiError } from "../protocol/error.ts";

const firstDelayMs = 100;
const longestDelayMs = 5_000;

/**
 * The delay doubles with every failure, from a tenth of a second to five seconds. Each delay is shortened by up to half at
 * random, so that many clients do not come back at the same moment.
 */
export function backoffMs(failures: number): number {
  const full = Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(failures, 16));
  return full * (1 - Math.random() / 2);
}

/** Returns early when the signal is aborted, without throwing. */
export async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
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

/** True when the same call may succeed a little later: the service was not there, was stopping, was busy or had an error. */
export function isTransient(thrown: unknown): boolean {
  if (!(thrown instanceof TuttiError)) return false;
  // A reply of another version, or a damaged state, stays what it is.
  if (thrown.code === "newer" || thrown.code === "corrupt") return false;
  return thrown.code === "slow_down" || errorTable[thrown.code].http >= 500;
}

export interface RetryOptions {
  /** How long the service may be away before the last failure is thrown. */
  readonly giveUpAfterMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Repeats a call until it succeeds, fails for good, or the time is up. Only for calls that may be made twice. */
export async function withRetry<T>(call: () => Promise<T>, { giveUpAfterMs, signal }: RetryOptions): Promise<T> {
  const giveUpAt = Date.now() + giveUpAfterMs;
  for (let failures = 0; ; failures += 1) {
    try {
      return await call();
    } catch (thrown) {
      if (!isTransient(thrown) || Date.now() >= giveUpAt) throw thrown;
    }
    await sleep(Math.min(backoffMs(failures), Math.max(0, giveUpAt - Date.now())), signal);
    signal?.throwIfAborted();
  }
}
