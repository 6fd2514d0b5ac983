// Which runner runs a task: one that is the same for all trees, or one that is resolved once for each tree.

import { TuttiError } from "../protocol/error.ts";
import { missingRunner } from "../protocol/missing-runner.ts";
import type { Durable, Runner, RunnerRegistry, TreeRunners } from "../ports.ts";
import type { LiveTask } from "./live-task.ts";

export class Runners {
  readonly #fixed: RunnerRegistry;
  readonly #perTree: TreeRunners | undefined;
  /** Other processes may have runners that this one does not have: a task waits for one instead of failing. */
  mayBeElsewhere = false;

  constructor(fixed: RunnerRegistry, perTree: TreeRunners | undefined) {
    this.#fixed = fixed;
    this.#perTree = perTree;
  }

  knows(kind: string): boolean {
    if (Object.hasOwn(this.#fixed, kind)) return true;
    return this.#perTree?.kinds.includes(kind) === true || this.#perTree?.mayHave?.(kind) === true;
  }

  /** Those that every tree has here. */
  get kinds(): readonly string[] {
    return [...(this.#perTree?.kinds ?? []), ...Object.keys(this.#fixed)];
  }

  /** Throws `not_found` for a kind that nobody runs. */
  check(kind: string): void {
    if (!this.knows(kind)) throw new TuttiError("not_found", this.#none(kind));
  }

  #none(kind: string): string {
    return `there is no runner of kind ${kind}; there are: ${this.kinds.join(", ")}`;
  }

  #missing(kind: string, message: string): TuttiError {
    return this.mayBeElsewhere ? missingRunner(kind, message) : new TuttiError("not_found", message);
  }

  /** Runs the task. A tree whose runners could not be resolved is tried again by the next task that needs them. */
  run({ kind, tree }: LiveTask, durable: Durable, config: unknown): Promise<unknown> {
    const fixed = Object.hasOwn(this.#fixed, kind) ? this.#fixed[kind] : undefined;
    if (fixed !== undefined) return fixed(durable, config);
    if (!this.knows(kind)) return Promise.reject(this.#missing(kind, this.#none(kind)));
    if (tree.runners === undefined) {
      const { root } = durable;
      tree.onOver = () => this.#perTree?.ended?.(root);
      tree.runners = this.#resolve(durable, () => (tree.runners = undefined));
    }
    return tree.runners.then((runners) => this.#found(runners, kind)(durable, config));
  }

  async #resolve(durable: Durable, onFailure: () => void): Promise<RunnerRegistry> {
    try {
      return (await this.#perTree?.resolve(durable)) ?? {};
    } catch (thrown) {
      onFailure();
      throw thrown;
    }
  }

  #found(runners: RunnerRegistry, kind: string): Runner {
    const runner = Object.hasOwn(runners, kind) ? runners[kind] : undefined;
    if (runner !== undefined) return runner;
    throw this.#missing(kind, `the project of this tree has no runner of kind ${kind}`);
  }
}
