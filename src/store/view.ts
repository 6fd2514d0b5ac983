// What can be looked at in a store without taking its lock.

import type { TaskStatus } from "../protocol/task/task-status.ts";
import type { AnswerRow, ResultRow, StoredEvent, TaskRow, WaitRow } from "./store.ts";

/** A task with what is known of it across the tables; without its record, which may be long. */
export interface TaskListing extends Omit<TaskRow, "body"> {
  readonly status: TaskStatus;
  readonly attempt: number;
  readonly run: number;
  readonly ended_at: number | null;
  readonly steps: number;
  readonly tokens: number;
  readonly money: number;
  readonly result: string | null;
}

export interface TaskFilter {
  readonly limit: number;
  /** The last task of the page before; those that are older follow. */
  readonly after?: number;
  readonly status?: TaskStatus;
  readonly agent?: string;
  readonly runner?: string;
  readonly parent?: number;
  /** Roots only. */
  readonly roots?: boolean;
}

/** An event with the rows it points at, so that it can be shown without another read. */
export interface EventRecord extends StoredEvent {
  /** Of `task.created`: the task. */
  readonly made?: TaskRow;
  /** Of an event that ends a task: its result. */
  readonly result?: ResultRow;
  /** Of an ask's events and of `wait.opened`: the wait, and the answer where it was answered. */
  readonly wait?: WaitRow;
  readonly answer?: AnswerRow;
}

/** What comes after a sequence, at most so many. */
export interface Page {
  readonly after: number;
  readonly limit: number;
}

/** Reads are asynchronous, since a store may be on another machine; each sees what was committed when it was made. */
export interface StoreView {
  readonly salt: string;
  /** How many tasks of the root's tree have not ended. */
  unfinished(root: number): Promise<number>;
  task(id: number): Promise<TaskListing | undefined>;
  /** As it was recorded. */
  taskRow(id: number): Promise<TaskRow | undefined>;
  /** Newest first. A task that is added later is newer than every cursor, so pages neither miss nor repeat one. */
  tasks(filter: TaskFilter): Promise<TaskListing[]>;
  /** The task and all below it, parents first. */
  below(id: number): Promise<TaskListing[]>;
  wait(id: number): Promise<WaitRow | undefined>;
  openWaits(): Promise<WaitRow[]>;
  /** Of the task and all below it, in order. */
  events(task: number, after: number, limit: number): Promise<EventRecord[]>;
  /** Of everything, in order. */
  eventsAfter(after: number, limit: number): Promise<EventRecord[]>;
  /** The sequence of the last event; 0 when there is none. */
  lastEvent(): Promise<number>;
  /** Outcomes of the task's own steps, of all its attempts, in order. */
  steps(task: number, page: Page): Promise<StoredEvent[]>;
  /** What was said in the task itself, in all its attempts, in order. */
  messages(task: number, page: Page): Promise<StoredEvent[]>;
  close(): void;
}
