// What the parts of the engine share: the store, time, the tasks in memory, and the few things done to a task.

import type { TuttiError } from "../protocol/error.ts";
import type { LiveDelta } from "../protocol/task/event.ts";
import type { Clock, NewTask } from "../ports.ts";
import type { Store } from "../store/store.ts";
import type { LiveTask } from "./live.ts";
import type { Slots } from "./slots.ts";
import type { Waits } from "./waits.ts";

export interface Kernel {
  readonly store: Store;
  readonly clock: Clock;
  readonly slots: Slots;
  readonly waits: Waits;
  /** By name; undefined for one that is over or was never ours. */
  find(name: string): LiveTask | undefined;
  /** What the root of its tree was given. */
  rootOf(task: LiveTask): { readonly input: unknown; readonly config: unknown };
  /** Checks, counts and records the children; when one is refused it throws before anything is recorded. */
  addChildren(parent: LiveTask, children: readonly NewTask[], keepShared: () => number | null): LiveTask[];
  /** Queues the loop of a task that has none yet. */
  launch(task: LiveTask): void;
  cancel(task: LiveTask, reason: string): LiveTask[];
  /** Something happened to the task, in its current run. */
  emit(task: LiveTask, type: string, data?: unknown): void;
  live(delta: LiveDelta): void;
  /** Text as it may be recorded, JSON or not; what a caller is given must be what is recorded. */
  clean(text: string): string;
  /** The same for a value that is about to become JSON. */
  cleanValue(value: unknown): unknown;
  /** Why no loop may go on: the store failed, or the engine is being stopped. */
  readonly halted: TuttiError | undefined;
}
