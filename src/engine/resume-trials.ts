// Lets resumed tasks that may have ended the process begin one after the other, so that the next end is blamed on one of them.

import type { Clock } from "../ports.ts";
import type { LiveTask } from "./live-task.ts";

/** A task that has not ended the process within this time makes room for the next one. */
const trialMs = 2_000;

interface Waiting {
  readonly task: LiveTask;
  readonly begin: () => void;
}

export class ResumeTrials {
  readonly #clock: Clock;
  readonly #waiting: Waiting[] = [];
  #current: LiveTask | undefined;
  #callOff: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Resolves when it is the turn of the task. `onSurvived`: the task was under way all the time, and another one begins
   * now, on which a next end will be blamed.
   */
  turn(task: LiveTask, onSurvived: () => void): Promise<void> {
    return new Promise((resolve) => {
      const begin = (): void => {
        this.#current = task;
        this.#callOff = this.#clock.timer(trialMs, () => {
          if (this.#waiting.length > 0) onSurvived();
          this.over(task);
        });
        resolve();
      };
      if (this.#current === undefined) begin();
      else this.#waiting.push({ task, begin });
    });
  }

  /** The task got further, only waits, or is over. Does nothing when it is not its turn. */
  over(task: LiveTask): void {
    if (this.#current !== task) return;
    this.#callOff?.();
    this.#current = undefined;
    this.#waiting.shift()?.begin();
  }
}
