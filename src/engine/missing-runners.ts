// Tasks that wait because their runner is not on this machine: another one may have it, or this one get it.

import type { EngineParts } from "./engine-parts.ts";
import type { LiveTask } from "./live-task.ts";
import { rootRecord } from "./root-record.ts";
import { stopAskOf } from "./stopped-task.ts";

/** A tree with tasks that wait for runners. */
export interface WaitingTree {
  readonly root: number;
  /** What the root was given, which says in which project the tree works. */
  readonly config: unknown;
  /** Each once. */
  readonly runners: readonly string[];
  /** Something that may not be repeated has begun in this process. */
  readonly begunHere: boolean;
}

/** The task is not driven any more until `goOn`. It can be told, asked about, retried and canceled. */
export function waitForRunner({ missing }: EngineParts, task: LiveTask, runner: string): void {
  task.tree.missing ??= new Map();
  task.tree.missing.set(task, runner);
  missing?.(task.tree.root);
}

export function waitingTrees({ tasks, store }: EngineParts): WaitingTree[] {
  return [...tasks.trees()].flatMap((tree) => {
    for (const task of tree.missing?.keys() ?? []) if (task.result !== undefined) tree.missing?.delete(task);
    const runners = [...new Set(tree.missing?.values())];
    if (runners.length === 0 || tree.halted !== undefined) return [];
    return [{ root: tree.root, config: rootRecord(store, tree).config, runners, begunHere: tree.begunHere }];
  });
}

/** The runner is there now. */
export function goOnWith(parts: EngineParts, root: number, runner: string): void {
  for (const { missing } of [...parts.tasks.trees()].filter((each) => each.root === root)) {
    for (const task of [...(missing?.keys() ?? [])].filter((each) => missing?.get(each) === runner)) {
      missing?.delete(task);
      if (task.result === undefined && !task.running && stopAskOf(parts, task) === undefined) parts.launch(task);
    }
  }
}
