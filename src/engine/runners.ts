// Which runner runs a task: one that is the same for all trees, or one that is resolved once for each tree.

import { TuttiError } from "../protocol/error.ts";
import type { Durable, Runner, RunnerRegistry, TreeRunners } from "../ports.ts";
import type { LiveTask } from "./live-task.ts";

export class Runners {
  readonly #fixed: RunnerRegistry;
  readonly #perTree: TreeRunners | undefined;

  constructor(fixed: RunnerRegistry, perTree: TreeRunners | undefined) {
    this.#fixed = fixed;
    this.#perTree = perTree;
  }

  knows(kind: string): boolean {
    if (Object.hasOwn(this.#fixed, kind)) return true;
    return this.#perTree?.kinds.includes(kind) === true || this.#perTree?.mayHave?.(kind) === true;
  }

  /** Throws `not_found` for a kind that nobody runs. */
  check(kind: string): void {
    if (this.knows(kind)) return;
    const known = [...(this.#perTree?.kinds ?? []), ...Object.keys(this.#fixed)].join(", ");
    throw new TuttiError("not_found", `there is no runner of kind ${kind}; there are: ${known}`);
  }

  /** Runs the task. A tree whose runners could not be resolved is tried again by the next task that needs them. */
  run({ kind, tree }: LiveTask, durable: Durable, config: unknown): Promise<unknown> {
    const fixed = Object.hasOwn(this.#fixed, kind) ? this.#fixed[kind] : undefined;
    if (fixed !== undefined) return fixed(durable, config);
    this.check(kind);
    if (tree.runners === undefined) {
      const { root } = durable;
      tree.onOver = () => this.#perTree?.ended?.(root);
      tree.runners = this.#resolve(durable, () => (tree.runners = undefined));
    }
    return tree.runners.then((runners) => found(runners, kind)(durable, config));
  }

  async #resolve(durable: Durable, onFailure: () => void): Promise<RunnerRegistry> {
    try {
      return (await this.#perTree?.resolve(durable)) ?? {};
    } catch (thrown) {
      onFailure();
      throw thrown;
    }
  }
}

function found(runners: RunnerRegistry, kind: string): Runner {
  const runner = Object.hasOwn(runners, kind) ? runners[kind] : undefined;
  if (runner !== undefined) return runner;
  throw new TuttiError("not_found", `the project of this tree has no runner of kind ${kind}`);
}
