// Slows down callers that send wrong keys: every failure of an address is answered later than the one before.

import type { IncomingMessage } from "node:http";

import { type HttpError, httpError } from "./http-error.ts";

const firstDelayMs = 25;
const maxDelayMs = 2_000;
/** After this time without a failure, the count of an address starts again. */
const forgetMs = 60_000;
const maxAddresses = 4_096;
const maxWaiting = 64;
const maxWaitingPerAddress = 8;

interface Attempts {
  failures: number;
  lastAt: number;
  waiting: number;
}

/** Only failures wait: a request with a good key is answered at once, whatever else comes from its address. */
export class FailedAttempts {
  readonly #attempts = new Map<string, Attempts>();
  readonly #waiting = new Set<() => void>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Returns the error after the delay; at once, and as `slow_down`, when too many errors are being delayed already. */
  async delay(request: IncomingMessage, error: HttpError): Promise<HttpError> {
    if (await this.wait(request.socket.remoteAddress ?? "")) return error;
    return httpError("slow_down", "too many wrong keys; wait before you try another");
  }

  /** Resolves after the delay of the address with true; at once with false when too many are waiting already. */
  wait(address: string): Promise<boolean> {
    const attempts = this.#attemptsOf(address);
    attempts.failures = this.#now() - attempts.lastAt > forgetMs ? 1 : attempts.failures + 1;
    attempts.lastAt = this.#now();
    if (this.#waiting.size >= maxWaiting || attempts.waiting >= maxWaitingPerAddress) return Promise.resolve(false);
    const ms = Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(attempts.failures - 1, 16));
    attempts.waiting += 1;
    return new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(finish);
        attempts.waiting -= 1;
        resolve(true);
      };
      const timer = setTimeout(finish, ms);
      this.#waiting.add(finish);
    });
  }

  /** Ends all delays now. */
  close(): void {
    for (const finish of this.#waiting) finish();
  }

  #attemptsOf(address: string): Attempts {
    const attempts = this.#attempts.get(address) ?? { failures: 0, lastAt: this.#now(), waiting: 0 };
    // The address that failed last is put last, so that the first one is the one to forget.
    this.#attempts.delete(address);
    this.#attempts.set(address, attempts);
    if (this.#attempts.size > maxAddresses) {
      const [oldest] = this.#attempts.keys();
      if (oldest !== undefined) this.#attempts.delete(oldest);
    }
    return attempts;
  }
}
