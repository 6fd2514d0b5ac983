// The states of a task, which of them are final, and their names in A2A.

import { z } from "zod";

export const TaskStatus = z.enum(["pending", "running", "input_required", "completed", "failed", "canceled"]);
export type TaskStatus = z.infer<typeof TaskStatus>;

export const TerminalStatus = TaskStatus.extract(["completed", "failed", "canceled"]);
export type TerminalStatus = z.infer<typeof TerminalStatus>;

/** A terminal task never changes again (invariant 2). */
export function isTerminal(status: TaskStatus): status is TerminalStatus {
  return status === "completed" || status === "failed" || status === "canceled";
}

/** The events that move a task's status; what each of them does stands in the core's table of transitions. */
export const statusEvents = [
  "task.started",
  "task.input_required",
  "task.resumed",
  "task.handed_over",
  "run.started",
  "task.completed",
  "task.failed",
  "task.canceled",
] as const;
export type StatusEvent = (typeof statusEvents)[number];

/** A2A's word for each state: 0.3 writes `input-required`, 1.0 `TASK_STATE_INPUT_REQUIRED`. */
const a2aWords = {
  pending: "submitted",
  running: "working",
  input_required: "input-required",
  completed: "completed",
  failed: "failed",
  canceled: "canceled",
} as const satisfies Record<TaskStatus, string>;

export type A2AVersion = "0.3" | "1.0";

export function toA2AState(status: TaskStatus, version: A2AVersion): string {
  const word = a2aWords[status];
  return version === "0.3" ? word : `TASK_STATE_${word.replaceAll("-", "_").toUpperCase()}`;
}

/**
 * Reads either spelling. A rejected task is one that failed before it began; one that wants credentials waits for
 * input. A state that says nothing (`unknown`, `TASK_STATE_UNSPECIFIED`) or that we do not know gives undefined.
 */
export function fromA2AState(state: string): TaskStatus | undefined {
  const word = state.startsWith("TASK_STATE_") ? state.slice(11).replaceAll("_", "-").toLowerCase() : state;
  if (word === "rejected") return "failed";
  if (word === "auth-required") return "input_required";
  return TaskStatus.options.find((status) => a2aWords[status] === word);
}
