// What can be looked at in a store without taking its lock.

import type { TaskStatus } from "../protocol/task-status.ts";
import type { AnswerRow, ResultRow, StoredEvent, TaskRow, WaitRow } from "./store.ts";

/** A task with what is known of it across the tables. */
export interface TaskListing extends TaskRow {
  readonly status: TaskStatus;
  readonly attempt: number;
  readonly run: number;
  readonly ended_at: number | null;
  readonly steps: number;
  readonly tokens: number;
  readonly money: number;
  readonly result: string | null;
}

export interface StoreView {
  readonly salt: string;
  /** Roots, newest first. */
  roots(limit: number): TaskListing[];
  /** How many tasks of the root's tree have not ended. */
  unfinished(root: number): number;
  task(id: number): TaskListing | undefined;
  /** The task and all below it, parents first. */
  below(id: number): TaskListing[];
  result(task: number): ResultRow | undefined;
  wait(id: number): WaitRow | undefined;
  answer(wait: number): AnswerRow | undefined;
  openWaits(): WaitRow[];
  /** Of the task and all below it, in order. */
  events(task: number, after: number, limit: number): StoredEvent[];
  close(): void;
}
