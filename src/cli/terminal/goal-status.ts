// The status of a goal in words.
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
