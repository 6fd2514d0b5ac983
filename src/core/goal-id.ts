// The id of a goal and the id of its manager's task: one follows from the other, so no table of goals is needed.

import type { GoalId, TaskId } from "../protocol/ids.ts";

const goalPrefix = "gol_";
const taskPrefix = "tsk_";

export function goalOfTask(task: TaskId): GoalId {
  return goalPrefix + task.slice(taskPrefix.length);
}

export function taskOfGoal(goal: GoalId): TaskId {
  return taskPrefix + goal.slice(goalPrefix.length);
}
