// What the service of operators looks up in trees, whichever node they are with.

import type { Salt } from "./names.ts";
import type { AnswerRow, WaitRow } from "./store.ts";

/** Reads are asynchronous, since a tree may be with another node; each sees what was committed when it was made. */
export interface OperatorReads {
  /** Random, made with the store; part of every name it gives. */
  readonly salt: Salt;
  /** Ids of open waits of tasks that are not over, in order: all that may be for an operator, and perhaps others. */
  openRequestIds(): Promise<number[]>;
  /** Those of these waits that nobody has settled, in the order of their ids. */
  unsettled(ids: readonly number[]): Promise<WaitRow[]>;
  wait(id: number): Promise<WaitRow | undefined>;
  answer(wait: number): Promise<AnswerRow | undefined>;
  /** The wait opened under the key in this run of the attempt, or in any run of it. */
  waitAt(task: number, attempt: number, key: string, run?: number): Promise<WaitRow | undefined>;
  /** The attempt that the task is at; undefined when there is no such task or it has not begun. */
  lastAttempt(task: number): Promise<number | undefined>;
  /** True also when there is no such task. */
  isOver(task: number): Promise<boolean>;
  /** The record of the root as JSON, where it names operators; undefined where it names none. */
  recordWithOperators(root: number): Promise<string | undefined>;
  isBound(key: string): Promise<boolean>;
}
