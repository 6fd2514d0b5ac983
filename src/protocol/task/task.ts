// A task as it is stored: one unit of delegated work, its place in the tree, and its attempts.

import { z } from "zod";
import { Budget, Usage } from "./budget.ts";
import { Executor } from "../invocation/executor.ts";
import { Failure } from "../failure.ts";
import { GoalId, TaskId, Time } from "../ids.ts";
import { TaskStatus } from "./task-status.ts";

/** Attempts are counted from 1 in a task, runs from 1 in an attempt. */
export const Ordinal = z.int().positive();

export const Task = z.strictObject({
  id: TaskId,
  /** Null for a root, whose `root` is itself. */
  parent: TaskId.nullable(),
  root: TaskId,
  goal: GoalId.nullable(),
  /** Levels below the root. */
  depth: z.int().nonnegative(),
  /** The agent of the current run. */
  agent: z.string().min(1),
  executor: Executor,
  /** The tools it was granted, already narrowed; `*` is every tool its parent has. */
  tools: z.union([z.literal("*"), z.array(z.string().min(1))]),
  status: TaskStatus,
  attempt: Ordinal,
  run: Ordinal,
  budget: Budget,
  /** Folders the task may touch; never more than its parent's. */
  roots: z.array(z.string().min(1)),
  /** When its work must have ended. An earlier deadline of a task above it applies too. */
  deadline: Time.nullable(),
  /** Whether the work may be done again after an attempt whose outcome is unknown. */
  repeatable: z.boolean(),
  created_at: Time,
  started_at: Time.nullable(),
  last_event_at: Time,
  ended_at: Time.nullable(),
});
export type Task = z.infer<typeof Task>;

/** How an attempt ended. `unknown`: it was cut off, and nobody knows what it did outside. `stopped`: it can be resumed. */
export const AttemptOutcome = z.enum(["completed", "failed", "canceled", "stopped", "unknown"]);
export type AttemptOutcome = z.infer<typeof AttemptOutcome>;

export const Attempt = z.strictObject({
  task: TaskId,
  attempt: Ordinal,
  executor: Executor,
  model: z.string().nullable(),
  workspace: z.string().nullable(),
  usage: Usage,
  /** Null until it ends. */
  outcome: AttemptOutcome.nullable(),
  error: Failure.nullable(),
  started_at: Time,
  ended_at: Time.nullable(),
});
export type Attempt = z.infer<typeof Attempt>;
