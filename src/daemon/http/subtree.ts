// A task and all below it as a stream of events sees them: which events are theirs, and when the last of them is over.

import { idInName, taskName } from "../../store/names.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { TaskEvent } from "../../protocol/task/event.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { isTerminal } from "../../protocol/task/task-status.ts";
import type { StoreView } from "../../store/view.ts";

export class Subtree {
  /** The task when it is a root: then an event says by itself whether it belongs. */
  readonly root: TaskId | undefined;
  readonly #members = new Set<TaskId>();
  readonly #open = new Set<TaskId>();

  /** As the store has it now; what is recorded later has to be noted. */
  constructor(view: StoreView, task: TaskId) {
    const id = idInName(view.salt, task);
    const rows = id === undefined ? [] : view.below(id);
    const [top] = rows;
    if (top === undefined) throw new TuttiError("not_found", `there is no task ${task}`);
    this.root = top.root === top.id ? task : undefined;
    for (const row of rows) {
      const name = taskName(view.salt, row.id);
      if (this.root === undefined) this.#members.add(name);
      if (!isTerminal(row.status)) this.#open.add(name);
    }
  }

  has({ task, root }: Pick<TaskEvent, "task" | "root">): boolean {
    return this.root === undefined ? this.#members.has(task) : root === this.root;
  }

  /** True when the event is of this subtree. */
  note(event: TaskEvent): boolean {
    if (event.type === "task.created" && this.#isNewMember(event)) {
      if (this.root === undefined) this.#members.add(event.task);
      this.#open.add(event.task);
      return true;
    }
    if (!this.has(event)) return false;
    if (event.type === "task.completed" || event.type === "task.failed" || event.type === "task.canceled") {
      this.#open.delete(event.task);
    }
    return true;
  }

  get over(): boolean {
    return this.#open.size === 0;
  }

  #isNewMember(event: Extract<TaskEvent, { type: "task.created" }>): boolean {
    const { parent } = event.data;
    return this.root === undefined ? parent !== null && this.#members.has(parent) : event.root === this.root;
  }
}
