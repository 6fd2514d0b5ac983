// The bodies of the routes that control and observe sessions.

import { z } from "zod";
import { TaskId } from "../ids.ts";
import { HeldAgent } from "../task/agent-failure.ts";
import { Observation } from "../task/observation.ts";
import { count, nextItem, numberCursor } from "./list-query.ts";

export const StopTask = z.strictObject({ reason: z.string().trim().min(1).max(1000).default("stopped by request") });
/** `task`: which one was meant. For an invocation with one open task it is that task. */
export const StoppedTask = z.strictObject({ stopped: z.literal(true), task: TaskId });
export const ResumedTask = z.strictObject({ resumed: z.literal(true), task: TaskId });

export const KillTask = z.strictObject({ reason: z.string().trim().min(1).max(1000).default("killed by request") });
const KilledWorkspace = z.strictObject({
  id: z.string(),
  removed: z.boolean(),
  /** The branch with the work; null when there is none. */
  branch: z.string().nullable(),
  /** Where the work is that was uncommitted: the branch, or a ref of Tutti; null when everything was committed. */
  saved: z.string().nullable(),
  /** Why the workspace was not removed; null when it was. */
  kept_reason: z.string().nullable(),
});
/** `canceled`: the tasks that were not over. */
export const KilledTask = z.strictObject({
  task: TaskId,
  canceled: z.array(TaskId),
  workspaces: z.array(KilledWorkspace),
});
export type KilledTask = z.infer<typeof KilledTask>;

export const ObserveQuery = z.strictObject({
  /** How many of the latest events to return. */
  recent: z.coerce.number<number>().int().min(0).max(100).default(10),
});
export type ObserveQuery = z.input<typeof ObserveQuery>;

export const SessionQuery = z.strictObject({ limit: count(200, 50), cursor: numberCursor });
export type SessionQuery = z.input<typeof SessionQuery>;
/** `held`: coding agents that failed several times in a row, so that their next launch asks first. */
export const SessionPage = z.strictObject({
  sessions: z.array(Observation),
  held: z.array(HeldAgent).default([]),
  next: nextItem,
});
export type SessionPage = z.infer<typeof SessionPage>;
