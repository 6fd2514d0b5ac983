// Follows a task and its descendants by their events: which events belong to them, and when all of them have ended.

import { idInName, type Salt, taskName } from "../../store/names.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { TaskEvent } from "../../protocol/task/event.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { isTerminal } from "../../protocol/task/task-status.ts";
import type { StoreView, TaskPlace } from "../../store/view.ts";

export class Subtree {
  /** Set when the task is a root: then the `root` of an event tells whether the event belongs here. */
  readonly root: TaskId | undefined;
  /** The tasks of the subtree when the task is not a root. */
  readonly #members = new Set<TaskId>();
  readonly #unfinished = new Set<TaskId>();

  /** Starts with the subtree as it is stored; every event committed after the call must be passed to `track`, in order. */
  static async load(view: StoreView, task: TaskId): Promise<Subtree> {
    const id = idInName(view.salt, task);
    const rows = id === undefined ? [] : await view.below(id);
    const [top] = rows;
    if (top === undefined) throw new TuttiError("not_found", `there is no task ${task}`);
    return new Subtree(view.salt, rows, top.root === top.id ? task : undefined);
  }

  private constructor(salt: Salt, rows: readonly TaskPlace[], root: TaskId | undefined) {
    this.root = root;
    for (const row of rows) {
      const name = taskName(salt, row.id);
      if (this.root === undefined) this.#members.add(name);
      if (!isTerminal(row.status)) this.#unfinished.add(name);
    }
  }

  has({ task, root }: Pick<TaskEvent, "task" | "root">): boolean {
    return this.root === undefined ? this.#members.has(task) : root === this.root;
  }

  /** Returns whether the event belongs to the subtree. */
  track(event: TaskEvent): boolean {
    if (event.type === "task.created" && this.#isNewMember(event)) {
      if (this.root === undefined) this.#members.add(event.task);
      this.#unfinished.add(event.task);
      return true;
    }
    if (!this.has(event)) return false;
    if (event.type === "task.completed" || event.type === "task.failed" || event.type === "task.canceled") {
      this.#unfinished.delete(event.task);
    }
    return true;
  }

  /** True when every task of the subtree has ended. */
  get settled(): boolean {
    return this.#unfinished.size === 0;
  }

  #isNewMember(event: Extract<TaskEvent, { type: "task.created" }>): boolean {
    const { parent } = event.data;
    return this.root === undefined ? parent !== null && this.#members.has(parent) : event.root === this.root;
  }
}
