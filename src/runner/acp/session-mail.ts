// Messages that people send while a session works.

import type { CompleteMessage } from "../../protocol/task/message.ts";
import type { RunningStep } from "../../ports.ts";

/** Each becomes a prompt of its own. */
export class SessionMail {
  readonly #step: RunningStep;
  readonly #closed = new AbortController();
  readonly #letters: CompleteMessage[] = [];
  #count = 0;
  #coming: Promise<void>;

  constructor(step: RunningStep) {
    this.#step = step;
    this.#coming = this.#receive();
  }

  async #receive(): Promise<void> {
    this.#count += 1;
    const letter = await this.#step.during.receive(`mail${this.#count}`, this.#closed.signal).catch(() => undefined);
    if (letter === undefined) return;
    this.#letters.push(letter);
    this.#coming = this.#receive();
  }

  /** Undefined when there is none: no further one is taken then, so that it is left to the task's next attempt. */
  async next(): Promise<CompleteMessage | undefined> {
    const waiting = this.#letters.shift();
    if (waiting !== undefined) return waiting;
    this.close();
    await this.#coming;
    return this.#letters.shift();
  }

  close(): void {
    this.#closed.abort();
  }
}
