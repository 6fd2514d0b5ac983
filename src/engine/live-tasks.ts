// The tasks this process works on, by name and by tree: how one is taken in, found, and forgotten when it is over.

import { giveBack } from "./allotment.ts";
import type { LiveTask, Tree } from "./live-task.ts";

export class LiveTasks {
  readonly #byName = new Map<string, LiveTask>();
  readonly #trees = new Set<Tree>();
  #onEmpty: (() => void)[] = [];

  get size(): number {
    return this.#byName.size;
  }

  all(): Iterable<LiveTask> {
    return this.#byName.values();
  }

  trees(): Iterable<Tree> {
    return this.#trees;
  }

  /** By name; undefined for a task that is over or was never ours. */
  find(name: string): LiveTask | undefined {
    return this.#byName.get(name);
  }

  add(task: LiveTask): void {
    this.#byName.set(task.name, task);
    task.tree.live.add(task);
    this.#trees.add(task.tree);
  }

  /** Forgets a task when it and all below it are over; what was carved out for it and not used goes back. */
  retire(task: LiveTask): void {
    for (let at: LiveTask | undefined = task; at !== undefined; at = at.parent) {
      if (at.result === undefined || (at.children?.size ?? 0) > 0) return;
      this.#remove(at);
      at.parent?.children?.delete(at);
      giveBack(at);
      for (const tell of at.onSettled ?? []) tell();
    }
    if (this.#byName.size === 0) this.#tellEmpty();
  }

  /** Forgets a whole tree that another process goes on with, or this one at its next start. */
  release(tree: Tree): void {
    for (const task of tree.live) this.#byName.delete(task.name);
    tree.live.clear();
    this.#forget(tree);
    if (this.#byName.size === 0) this.#tellEmpty();
  }

  /** Calls `listener` once when no task is left. */
  onceEmpty(listener: () => void): void {
    this.#onEmpty.push(listener);
  }

  #remove(task: LiveTask): void {
    this.#byName.delete(task.name);
    task.tree.live.delete(task);
    if (task.tree.live.size === 0) this.#forget(task.tree);
  }

  #forget(tree: Tree): void {
    this.#trees.delete(tree);
    const { onOver } = tree;
    tree.onOver = undefined;
    onOver?.();
  }

  #tellEmpty(): void {
    const waiting = this.#onEmpty;
    this.#onEmpty = [];
    for (const resolve of waiting) resolve();
  }
}
