// Waits for results that any node may record. However many wait, each look is one query.

import type { AgentResult } from "../protocol/invocation/invocation-result.ts";
import { resultIn } from "../engine/outcome.ts";
import { taskName } from "../store/names.ts";
import type { NodeStore } from "../store/postgres/postgres-store.ts";

/** New events are given places often; so often is looked at most. */
const lookEveryMs = 15;
/** A notification may be lost with its connection. */
const lookAgainMs = 500;

type Watched = ReadonlyMap<number, PromiseWithResolvers<AgentResult>>;

export class EndWatch {
  readonly #node: NodeStore;
  readonly #results = new Map<number, PromiseWithResolvers<AgentResult>>();
  #off: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #looking = false;
  #again = false;
  #failure: Error | undefined;

  constructor(node: NodeStore) {
    this.#node = node;
  }

  /** The result of a task that exists, when there is one. Rejects when nothing goes on here any more. */
  async result(task: number, signal?: AbortSignal): Promise<AgentResult> {
    signal?.throwIfAborted();
    if (this.#failure !== undefined) throw this.#failure;
    const waiting = this.#results.get(task) ?? Promise.withResolvers<AgentResult>();
    // Whoever waited may have gone meanwhile.
    waiting.promise.catch(() => undefined);
    this.#results.set(task, waiting);
    this.#begin();
    if (signal === undefined) return waiting.promise;
    const aborted = Promise.withResolvers<never>();
    const abort = (): void => aborted.reject(signal.reason);
    signal.addEventListener("abort", abort);
    try {
      return await Promise.race([waiting.promise, aborted.promise]);
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  /** Whoever waits, now or later, is told why. */
  fail(failure: Error): void {
    this.#failure = failure;
    for (const { reject } of this.#results.values()) reject(failure);
    this.#results.clear();
  }

  #begin(): void {
    if (this.#off === undefined) {
      this.#off = this.#node.onStamp(() => this.#look());
      this.#timer = setInterval(() => this.#look(), lookAgainMs).unref();
    }
    this.#look();
  }

  #look(): void {
    this.#again = true;
    if (this.#looking) return;
    this.#looking = true;
    void this.#lookOn().finally(() => {
      this.#looking = false;
      if (this.#again && this.#results.size > 0) this.#look();
    });
  }

  async #lookOn(): Promise<void> {
    while (this.#again && this.#results.size > 0) {
      this.#again = false;
      // The database may be away: the timer looks again.
      await this.#lookOnce(new Map(this.#results)).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    }
    if (this.#results.size > 0) return;
    this.#off?.();
    this.#off = undefined;
    clearInterval(this.#timer);
  }

  async #lookOnce(watched: Watched): Promise<void> {
    const { store } = this.#node;
    for (const row of await this.#node.results([...watched.keys()])) {
      this.#results.delete(row.task);
      watched.get(row.task)?.resolve(resultIn(row, taskName(store.salt, row.task)));
    }
  }
}
