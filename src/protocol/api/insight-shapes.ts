// The queries and replies of the routes that look over everything: search, the board of goals, and how the fleet does.

import { z } from "zod";
import { GoalId, TaskId, Time } from "../ids.ts";
import { GoalStatus } from "../task/goal.ts";
import { TaskStatus } from "../task/task-status.ts";
import { count, nextItem, numberCursor } from "./list-query.ts";

const total = z.int().nonnegative();

/** How far the index behind the answer has read. It follows what happens within a second, unless there is much to read. */
const reach = {
  /** The sequence of the last event that the answer knows. */
  seq: total,
  /** Events that the index has not read yet; ask again when there are any. */
  behind: total,
};

export const SearchKind = z.enum(["goal", "task", "message", "result", "ask", "evidence"]);

export const SearchQuery = z.strictObject({
  /** All words must occur, the last one at least with its beginning of three letters or more; words in double quotes follow each other. */
  q: z.string().min(1).max(200),
  kind: SearchKind.optional(),
  /** Only in the tree of this goal. */
  goal: GoalId.optional(),
  limit: count(50, 20),
  cursor: numberCursor,
});
export type SearchQuery = z.input<typeof SearchQuery>;

export const SearchHit = z.strictObject({
  /** The event that holds the text. */
  seq: total,
  at: Time,
  kind: SearchKind,
  task: TaskId,
  root: TaskId,
  /** Null when the tree has no goal. */
  goal: GoalId.nullable(),
  agent: z.string(),
  /** The first line of what the task was asked, or the goal; at most 400 characters. */
  title: z.string(),
  /** Pieces of the text around the matches, in order. */
  excerpt: z.array(z.strictObject({ text: z.string(), match: z.boolean() })),
});
export type SearchHit = z.infer<typeof SearchHit>;

/** The newest first. */
export const SearchPage = z.strictObject({ hits: z.array(SearchHit), next: nextItem, ...reach });
export type SearchPage = z.infer<typeof SearchPage>;

export const BoardQuery = z.strictObject({
  status: GoalStatus.optional(),
  /** Only goals of this folder, as the board names it. */
  folder: z.string().min(1).max(4096).optional(),
  limit: count(200, 100),
  cursor: numberCursor,
});
export type BoardQuery = z.input<typeof BoardQuery>;

const BoardGoal = z.strictObject({
  goal: GoalId,
  /** The task of its manager. */
  task: TaskId,
  /** At most 400 characters. */
  text: z.string(),
  /** The first folder that it may touch; null until its manager has begun. */
  folder: z.string().nullable(),
  status: GoalStatus,
  reason: z.string(),
  /** From 0 to 100: the share of tasks that are verified. */
  progress: z.int().min(0).max(100),
  /** `launched`: all that were, without those that others took the place of. */
  tasks: z.strictObject({ planned: total, launched: total, running: total, verified: total, failed: total }),
  criteria: z.strictObject({ total, met: total, unmet: total }),
  /** Open questions in its whole tree. */
  asks: total,
  tokens: total,
  money_micro_usd: total,
  created_at: Time,
  /** When something last happened in its tree. */
  updated_at: Time,
  ended_at: Time.nullable(),
});

/** The newest first. `folders` are those of all goals, at most 200; only the first page has them. */
export const Board = z.strictObject({
  goals: z.array(BoardGoal),
  folders: z.array(z.string()),
  next: nextItem,
  ...reach,
});
export type Board = z.infer<typeof Board>;

export const FleetWindow = z.enum(["1h", "6h", "24h", "7d", "30d"]);
export const FleetQuery = z.strictObject({ window: FleetWindow.default("24h") });
export type FleetQuery = z.input<typeof FleetQuery>;

const FleetPoint = z.strictObject({
  /** When it begins. */
  at: Time,
  created: total,
  completed: total,
  failed: total,
  canceled: total,
  /** Questions that were asked. */
  asks: total,
  /** Departures from the form of calls that models were told to write. */
  drifts: total,
  tokens: total,
  money_micro_usd: total,
});

/** A point for each stretch of `bucket_ms` from `from` to `to`, also where nothing happened. */
export const FleetSeries = z.strictObject({
  from: Time,
  to: Time,
  bucket_ms: z.int().positive(),
  points: z.array(FleetPoint),
  ...reach,
});
export type FleetSeries = z.infer<typeof FleetSeries>;

export const FleetTasksQuery = FleetQuery.extend({
  /**
   * `slowest`: tasks that ended in the window, those that took longest first. `quietest`: tasks that are not over and wait
   * neither for a person nor for a task below them, those that nothing was heard of for longest first.
   */
  order: z.enum(["slowest", "quietest"]).default("slowest"),
  limit: count(100, 20),
});
export type FleetTasksQuery = z.input<typeof FleetTasksQuery>;

const FleetTask = z.strictObject({
  task: TaskId,
  root: TaskId,
  goal: GoalId.nullable(),
  agent: z.string(),
  runner: z.string(),
  /** The first line of what it was asked, at most 200 characters. */
  title: z.string(),
  status: TaskStatus,
  created_at: Time,
  ended_at: Time.nullable(),
  last_event_at: Time,
  /** How long it took, or for how long nothing was heard of it. */
  ms: total,
  tokens: total,
  money_micro_usd: total,
});

export const FleetTasks = z.strictObject({ tasks: z.array(FleetTask), ...reach });
export type FleetTasks = z.infer<typeof FleetTasks>;

/** Of tasks and steps that failed in the window. */
const FleetError = z.strictObject({
  code: z.string(),
  count: z.int().positive(),
  /** The last one. */
  last_at: Time,
  task: TaskId,
  agent: z.string(),
  /** At most 300 characters. */
  message: z.string(),
});

/** The most frequent first, at most 100 codes. */
export const FleetErrors = z.strictObject({ errors: z.array(FleetError), ...reach });
export type FleetErrors = z.infer<typeof FleetErrors>;
