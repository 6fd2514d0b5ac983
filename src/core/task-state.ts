// The states a task may pass through: what each event of its life does to its status, or why it is refused.

import type { TaskEvent } from "../protocol/task/event.ts";
import { isTerminal, type StatusEvent, type TaskStatus } from "../protocol/task/task-status.ts";

/** The events that move a task's status. All other events leave it as it is. */
export type LifeEvent = StatusEvent;

export type Transition =
  | { readonly ok: true; readonly status: TaskStatus }
  | { readonly ok: false; readonly reason: string };

type Row = { readonly [S in TaskStatus]?: TaskStatus };

const whileRunning: Row = { running: "running" };

/**
 * A task is `input_required` exactly while one of its own asks is open; a second ask keeps it there. It completes only
 * from `running`, so never over an open question, but it can fail or be canceled at any point before its end. A task that
 * was retried before its first run starts with `run.started`.
 */
const table = {
  "task.started": { pending: "running" },
  "task.input_required": { running: "input_required", input_required: "input_required" },
  "task.resumed": { input_required: "running" },
  "task.handed_over": whileRunning,
  "run.started": { pending: "running", running: "running" },
  "task.completed": { running: "completed" },
  "task.failed": { pending: "failed", running: "failed", input_required: "failed" },
  "task.canceled": { pending: "canceled", running: "canceled", input_required: "canceled" },
} as const satisfies Record<StatusEvent, Row>;

export function isLifeEvent(type: TaskEvent["type"]): type is LifeEvent {
  return Object.hasOwn(table, type);
}

/** A terminal status refuses everything, repeats of itself included (invariant 2). */
export function nextStatus(status: TaskStatus, event: LifeEvent): Transition {
  if (isTerminal(status))
    return { ok: false, reason: `the task is ${status}, which is final: ${event} changes nothing` };
  const row: Row = table[event];
  const next = row[status];
  if (next === undefined) return { ok: false, reason: `${event} cannot happen to a task that is ${status}` };
  return { ok: true, status: next };
}
