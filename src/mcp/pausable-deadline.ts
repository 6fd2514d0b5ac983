// A time limit that begins anew with every sign of progress and stands still while a person is asked.

import { TuttiError } from "../protocol/error.ts";

/** However often it begins anew, it ends after this time. */
const longestMs = 60 * 60_000;

export class PausableDeadline {
  readonly #controller = new AbortController();
  readonly #ms: number;
  readonly #what: string;
  readonly #last: NodeJS.Timeout;
  #timer: NodeJS.Timeout | undefined;
  #pauses = 0;

  constructor(what: string, ms: number) {
    this.#what = what;
    this.#ms = ms;
    this.#last = setTimeout(() => this.#pass(longestMs), Math.max(ms, longestMs));
    this.restart();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  restart(): void {
    clearTimeout(this.#timer);
    if (this.#pauses === 0) this.#timer = setTimeout(() => this.#pass(this.#ms), this.#ms);
  }

  async whilePaused<T>(work: () => Promise<T>): Promise<T> {
    this.#pauses += 1;
    clearTimeout(this.#timer);
    try {
      return await work();
    } finally {
      this.#pauses -= 1;
      this.restart();
    }
  }

  end(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#last);
  }

  #pass(ms: number): void {
    this.#controller.abort(new TuttiError("deadline", `${this.#what} took longer than ${ms} ms`, { retry: "unknown" }));
  }
}
