// Records what happens to tasks: every event passes here, moves the status of its task, and loses its secrets before it is kept.

import { isLifeEvent, nextStatus } from "../core/task-state.ts";
import { TuttiError } from "../protocol/error.ts";
import { isTerminal } from "../protocol/task/task-status.ts";
import type { Clock } from "../ports.ts";
import type { EventType, Store } from "../store/store.ts";
import type { LiveTask } from "./live-task.ts";

/** Takes out of a text what must not be kept; valid JSON must stay valid. */
export type Redact = (text: string) => string;

export class Recorder {
  readonly store: Store;
  readonly clock: Clock;
  readonly #redact: Redact | undefined;

  constructor(store: Store, clock: Clock, redact: Redact | undefined) {
    this.store = store;
    this.clock = clock;
    this.#redact = redact;
  }

  /** Something happened to the task, in its current run. Its status changes in the same commit (invariant 2). */
  emit(task: LiveTask, type: EventType, data?: unknown): void {
    const body = data === undefined ? null : this.clean(JSON.stringify(data));
    if (isLifeEvent(type)) {
      const moved = nextStatus(task.status, type);
      if (!moved.ok) throw new TuttiError("internal", `${task.name}: ${moved.reason}`);
      if (moved.status !== task.status && !isTerminal(moved.status)) this.store.setStatus(task.id, moved.status);
      task.status = moved.status;
    }
    this.store.addEvent({ run: task.run, at: this.clock.now(), type, body });
  }

  /** Text as it may be recorded, JSON or not. Callers are given what is recorded, so that a restart changes nothing. */
  clean(text: string): string {
    return this.#redact === undefined ? text : this.#redact(text);
  }

  /** The same for a value that is about to become JSON. */
  cleanValue(value: unknown): unknown {
    if (this.#redact === undefined || value === undefined) return value;
    const text = JSON.stringify(value) ?? "null";
    const clean = this.#redact(text);
    return clean === text ? value : JSON.parse(clean);
  }
}
