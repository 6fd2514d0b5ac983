// The status of a goal, and where a task of it is, in words.
import type { GoalStatus } from "../../protocol/task/goal.ts";

const words: Readonly<Record<GoalStatus, string>> = {
  pending: "not begun",
  in_progress: "in progress",
  blocked: "waits for a person",
  done: "done",
  failed: "not reached",
  abandoned: "given up",
};

export function goalStatusText(status: GoalStatus): string {
  return words[status];
}

const phases: Readonly<Record<string, string>> = {
  received: "starts",
  repairing: "has its handoff repaired",
  working: "is worked on",
  verifying: "is being checked",
  reviewing: "is being reviewed",
  deciding: "is decided on by the router",
  done: "has passed",
  failed: "has failed",
  abandoned: "is given up",
  needs_human: "waits for a person",
};

/** `phase` is the state that its handoff moved to. */
export function handoffText(phase: string): string {
  return Object.hasOwn(phases, phase) ? (phases[phase] ?? phase) : phase;
}
