// Whoever waits from outside for a task to end: told when it is on disk, or that the engine cannot go on.

import type { TuttiError } from "../protocol/error.ts";
import type { AgentResult } from "../protocol/invocation/invocation-result.ts";
import type { Store } from "../store/store.ts";
import { type LiveTask, onResult } from "./live-task.ts";

export class OutsideWaits {
  readonly #store: Pick<Store, "committed">;
  readonly #onHalt = new Set<(reason: TuttiError) => void>();

  constructor(store: Pick<Store, "committed">) {
    this.#store = store;
  }

  /** Everybody who waits is told why nothing goes on. */
  halt(reason: TuttiError): void {
    for (const reject of this.#onHalt) reject(reason);
    this.#onHalt.clear();
  }

  onHalt(listener: (reason: TuttiError) => void): void {
    this.#onHalt.add(listener);
  }

  /** Resolves when what `subscribe` listens for has happened and is on disk. */
  until(subscribe: (resolve: () => void) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#onHalt.add(reject);
      subscribe(() => {
        this.#onHalt.delete(reject);
        this.#store.committed().then(resolve, reject);
      });
    });
  }

  /** The result of a task that is not over yet. */
  result(live: LiveTask, signal: AbortSignal | undefined): Promise<AgentResult> {
    return new Promise((resolve, reject) => {
      const off = (): void => {
        this.#onHalt.delete(leave);
        unjoin();
        signal?.removeEventListener("abort", aborted);
      };
      const leave = (reason: unknown): void => {
        off();
        reject(reason);
      };
      const aborted = (): void => leave(signal?.reason);
      const give = (result: AgentResult): void => {
        off();
        this.#store.committed().then(() => resolve(result), reject);
      };
      const unjoin = onResult(live, give);
      this.#onHalt.add(leave);
      signal?.addEventListener("abort", aborted);
      if (signal?.aborted === true) aborted();
    });
  }
}
