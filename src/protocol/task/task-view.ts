// A task as people see it: its place in the tree, its status, what it used, how it ended.

import { z } from "zod";
import { TaskId, Time } from "../ids.ts";
import { TaskStatus } from "./task-status.ts";

export const TaskView = z.strictObject({
  id: TaskId,
  /** Null for a root. */
  parent: TaskId.nullable(),
  root: TaskId,
  depth: z.int().nonnegative(),
  agent: z.string(),
  runner: z.string(),
  detached: z.boolean(),
  status: TaskStatus,
  attempt: z.int().positive(),
  run: z.int().positive(),
  created_at: Time,
  ended_at: Time.nullable(),
  /** Recorded steps, failed ones too. */
  steps: z.int().nonnegative(),
  tokens: z.int().nonnegative(),
  money_micro_usd: z.int().nonnegative(),
  /** What it ended with: its content, the error's message, or why it was canceled. Null until it ends. */
  result: z.unknown(),
});
export type TaskView = z.infer<typeof TaskView>;

/** A root may have ended while detached tasks of its tree go on. */
export const RootView = z.strictObject({
  ...TaskView.shape,
  /** Tasks of its tree that have not ended. */
  open: z.int().nonnegative(),
});
export type RootView = z.infer<typeof RootView>;
