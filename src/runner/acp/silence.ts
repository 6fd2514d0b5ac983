// Notices that a session has been silent for long: says so, and asks a person whether to wait on.

import { Answer } from "../../protocol/task/ask.ts";
import type { DuringStep } from "../../ports.ts";

export interface SilenceOptions {
  readonly profile: string;
  readonly stallMs: number;
  /** Whether the session waits for us: for a person's answer or for a program. */
  readonly isExcused: () => boolean;
}

const choices = ["wait", "stop"] as const;

export class Silence {
  readonly #during: DuringStep;
  readonly #options: SilenceOptions;
  #last = performance.now();
  #asked: AbortController | undefined;
  #count = 0;

  constructor(during: DuringStep, options: SilenceOptions) {
    this.#during = during;
    this.#options = options;
  }

  /** The session said something, so a question about its silence needs no answer any more. */
  heard(): void {
    this.#last = performance.now();
    this.#asked?.abort();
  }

  /** `given` resolves when a person, or nobody in time, decided to stop. */
  watch(): { readonly given: Promise<"stalled">; readonly stop: () => void } {
    const { stallMs, isExcused } = this.#options;
    const given = Promise.withResolvers<"stalled">();
    this.#last = performance.now();
    const look = (): void => {
      if (isExcused()) this.#last = performance.now();
      const silent = performance.now() - this.#last;
      if (silent < stallMs || this.#asked !== undefined) return;
      this.#ask(Math.round(silent)).then(
        (stops) => stops && given.resolve("stalled"),
        () => undefined,
      );
    };
    const timer = setInterval(look, Math.max(10, Math.min(stallMs / 4, 5_000)));
    const stop = (): void => {
      clearInterval(timer);
      this.#asked?.abort();
    };
    return { given: given.promise, stop };
  }

  async #ask(silent_ms: number): Promise<boolean> {
    this.#count += 1;
    const asked = new AbortController();
    this.#asked = asked;
    try {
      this.#during.tell(`stalled${this.#count}`, { type: "session.stalled", data: { silent_ms } });
      const waited = await this.#during.ask(`stalled${this.#count}.ask`, {
        ask: {
          kind: "question",
          question: `The session of ${this.#options.profile} has said nothing for ${Math.round(silent_ms / 1_000)} seconds. Wait on, or stop it?`,
          choices,
        },
        schema: Answer,
        signal: asked.signal,
      });
      this.#last = performance.now();
      if (asked.signal.aborted) return false;
      return !("value" in waited && waited.value.kind === "question" && waited.value.value === "wait");
    } finally {
      this.#asked = undefined;
    }
  }
}
