// Gives a planned task of a goal to the assignment runner, and says beforehand who would do it.

import { chooseRoute } from "../../core/choose-route.ts";
import { personsChecks } from "../../core/persons-checks.ts";
import type { AssignmentRequest, ShownRoute } from "../../manager/manager-deps.ts";
import type { NewTask } from "../../ports.ts";
import { TuttiError } from "../../protocol/error.ts";
import { route } from "../../protocol/routing/route-handoff.ts";
import { AssignmentConfig } from "../../protocol/task/assignment.ts";
import { assignmentTask } from "../../runner/assignment/assign-task.ts";
import type { GoalPolicy } from "../../runner/assignment/assignment-options.ts";

/** Does tasks that name no agent. A goal's file has a definition of it. */
export const workerAgent = "worker";

export function delegateTask(
  { goal, planned, predecessors, file, isLast }: AssignmentRequest,
  defaultModel: string,
): Pick<NewTask, "runner" | "agent" | "input"> {
  return assignmentTask({
    goal,
    planned: { ...planned, agent: planned.agent ?? workerAgent },
    predecessors,
    agents: file.agents,
    author: file.goal.manager_model ?? file.model ?? defaultModel,
    checks: personsChecks(file.goal),
    isLast,
    projectChecks: file.goal.project_checks,
    person: file.goal.model ?? null,
    ...(file.goal.settings_later ? { policy: file.goal.policy } : {}),
  });
}

/** How the task would be routed now; the assignment routes it when it starts. */
export function shownRoute(
  request: AssignmentRequest,
  { policy, isDefault }: GoalPolicy,
  defaultModel: string,
): ShownRoute {
  const { handoff, person, inner } = AssignmentConfig.parse(delegateTask(request, defaultModel).runner.config);
  const routed = route(policy, handoff);
  if (!routed.ok) return { runner: "none", model: policy.policy.router, reason: routed.error.message };
  try {
    const chosen = chooseRoute({ person, decision: routed.value, isDefaultPolicy: isDefault, agent: inner });
    return { runner: chosen.runner.kind, model: chosen.model, reason: chosen.reason };
  } catch (thrown) {
    if (!(thrown instanceof TuttiError)) throw thrown;
    return { runner: "none", model: routed.value.model, reason: thrown.message };
  }
}
