// A task as people see it: its place in the tree, its status, what it used, how it ended.

import { z } from "zod";
import { TaskId, Time } from "../ids.ts";
import { TaskStatus } from "./task-status.ts";

const shown = {
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
};

/** One task, whole. */
export const TaskView = z.strictObject({
  ...shown,
  /** What it ended with: its content, the error's message, or why it was canceled. Null until it ends. */
  result: z.unknown(),
});
export type TaskView = z.infer<typeof TaskView>;

export const ResultPreview = z.strictObject({
  /** The beginning of the result, at most 400 characters; as JSON if the result is not text. */
  text: z.string(),
  /** How long the whole result is as it is stored. */
  bytes: z.int().nonnegative(),
});
export type ResultPreview = z.infer<typeof ResultPreview>;

/** A task in a list. A result may have megabytes, so a list has only its beginning. */
export const TaskSummary = z.strictObject({
  ...shown,
  /** Null until it ends. */
  result_preview: ResultPreview.nullable(),
});
export type TaskSummary = z.infer<typeof TaskSummary>;

/** A root may have ended while detached tasks of its tree go on. */
export const RootSummary = z.strictObject({
  ...TaskSummary.shape,
  /** Tasks of its tree that have not ended. */
  open: z.int().nonnegative(),
});
export type RootSummary = z.infer<typeof RootSummary>;
