// The states a task may pass through: what each event of its life does to its status, or why it is refused.

import type { TaskEvent } from "../protocol/task/event.ts";
import { isTerminal, type TaskStatus } from "../protocol/task/task-status.ts";

/** The events that bear on a task's status; all others leave it alone. */
export type LifeEvent = Extract<TaskEvent["type"], keyof typeof table>;

export type Transition =
  | { readonly ok: true; readonly status: TaskStatus }
  | { readonly ok: false; readonly reason: string };

type Row = { readonly [S in TaskStatus]?: TaskStatus };

const whileRunning: Row = { running: "running" };

/**
 * A task can need a second answer while it waits for the first. It completes only from running, so never over an open
 * question; it can fail or be canceled at any point before its end. The end of an attempt is not the end of the task:
 * the first run of the next one starts.
 */
const table = {
  "task.started": { pending: "running" },
  "task.input_required": { running: "input_required", input_required: "input_required" },
  "task.resumed": { input_required: "running" },
  "task.handed_over": whileRunning,
  "run.started": whileRunning,
  "task.completed": { running: "completed" },
  "task.failed": { pending: "failed", running: "failed", input_required: "failed" },
  "task.canceled": { pending: "canceled", running: "canceled", input_required: "canceled" },
} as const satisfies Partial<Record<TaskEvent["type"], Row>>;

/** A terminal status refuses everything, repeats of itself included (invariant 2). */
export function nextStatus(status: TaskStatus, event: LifeEvent): Transition {
  if (isTerminal(status))
    return { ok: false, reason: `the task is ${status}, which is final: ${event} changes nothing` };
  const row: Row = table[event];
  const next = row[status];
  if (next === undefined) return { ok: false, reason: `${event} cannot happen to a task that is ${status}` };
  return { ok: true, status: next };
}
