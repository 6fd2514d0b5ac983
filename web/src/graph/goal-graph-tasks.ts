// Which boxes a goal's graph has: one for each planned task, and one for each task that another one started.

import type { GoalView, TaskId } from "../../../src/client/index.ts";
import type { LiveTask } from "../live/fold-tasks.ts";
import type { GraphTask } from "./lay-out-tasks.ts";

export interface GraphBox extends GraphTask {
  readonly title: string;
  /** The task that carries it out; undefined while it is only planned. */
  readonly task: TaskId | undefined;
  /** The name in the plan; undefined for a task that another one started. */
  readonly planned: string | undefined;
}

/** Changes only with the plan, the links and the tasks that there are, not with what they are doing. */
export function goalGraphTasks(
  goal: Pick<GoalView, "plan" | "links" | "task">,
  tasks: ReadonlyMap<TaskId, Pick<LiveTask, "id" | "parent" | "agent">>,
): readonly GraphBox[] {
  // A planned task that was launched twice is shown as what its newest task is.
  const taskOf = new Map(goal.links.map(({ planned, task }) => [planned, task]));
  const boxOf = new Map<TaskId, string>(goal.links.map(({ planned, task }) => [task, `plan:${planned}`]));
  const boxes: GraphBox[] = goal.plan.map(({ id, after, supersedes, prompt }) => ({
    id: `plan:${id}`,
    title: prompt,
    planned: id,
    task: taskOf.get(id),
    after: [...after, ...(supersedes === null ? [] : [supersedes])].map((each) => `plan:${each}`),
  }));
  for (const { id, parent, agent } of tasks.values()) {
    if (id === goal.task || boxOf.has(id)) continue;
    boxOf.set(id, id);
    const above = parent === null || parent === goal.task ? undefined : boxOf.get(parent);
    boxes.push({ id, title: agent, planned: undefined, task: id, after: above === undefined ? [] : [above] });
  }
  return boxes;
}
