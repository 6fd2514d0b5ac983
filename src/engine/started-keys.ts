// Finds the task that was started with a key: one that is being started, runs, or has ended.

import { TuttiError } from "../protocol/error.ts";
import type { TaskId } from "../protocol/ids.ts";
import { taskName } from "../store/names.ts";
import type { EngineParts } from "./engine-parts.ts";
import type { LiveTask } from "./live-task.ts";

interface Started {
  readonly task: TaskId;
  /** The fingerprint of what the key was used for. */
  readonly content: string;
}

export class StartedKeys {
  readonly #parts: EngineParts;
  readonly #isJustTakenOver: (root: number) => boolean;
  /** Started in this tick: by key, while the store cannot tell yet. */
  readonly #starting = new Map<string, { readonly task: LiveTask; readonly content: string }>();

  constructor(parts: EngineParts, isJustTakenOver: (root: number) => boolean) {
    this.#parts = parts;
    this.#isJustTakenOver = isJustTakenOver;
  }

  /**
   * The task that was started with the key. One that is over, with all below it, counts only if `finished` does, or if it
   * has just been taken over from the process before.
   */
  find(
    key: string,
    { finished, content }: { readonly finished: boolean; readonly content: string },
  ): TaskId | undefined {
    const found = this.#find(key, finished);
    if (found !== undefined && found.content !== content) throw usedForOther();
    return found?.task;
  }

  #find(key: string, finished: boolean): Started | undefined {
    const { store, tasks } = this.#parts;
    const starting = this.#starting.get(key);
    if (starting !== undefined) return { task: starting.task.name, content: starting.content };
    const bound = store.boundKey(key);
    if (bound === undefined) return undefined;
    const task = taskName(store.salt, bound.task);
    if (finished && store.task(bound.task) === undefined) throw wasPruned();
    const justTakenOver = this.#isJustTakenOver(bound.task);
    const counts = finished || tasks.find(task) !== undefined || justTakenOver;
    return counts ? { task, content: bound.content } : undefined;
  }

  /** Binds the key in the commit that is being made. The returned function is called when it is on disk. */
  bind(key: string, task: LiveTask, content: string): () => void {
    this.#parts.store.bindKey(key, { task: task.id, content });
    this.#starting.set(key, { task, content });
    return () => {
      if (this.#starting.get(key)?.task === task) this.#starting.delete(key);
    };
  }
}

function usedForOther(): TuttiError {
  return new TuttiError("conflict", "this idempotency key was used for another invocation; use a new key for new work");
}

function wasPruned(): TuttiError {
  const message =
    "the task of this idempotency key has ended and was pruned; it is not run again, use a new key for new work";
  return new TuttiError("expired", message);
}
