// Makes the task that carries out a planned task of a goal: its handoff, its checks, and where it begins.

import { chooseRoute } from "../../core/choose-route.ts";
import { makeHandoff } from "../../core/make-handoff.ts";
import type { AssignmentRequest, FinishedWork, ShownRoute } from "../../manager/manager-deps.ts";
import type { NewTask } from "../../ports.ts";
import type { Check } from "../../protocol/decision/decision.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { Handoff } from "../../protocol/routing/handoff.ts";
import { route } from "../../protocol/routing/route-handoff.ts";
import type { AssignmentConfig, NamedCheck } from "../../protocol/task/assignment.ts";
import { userMessage } from "../../protocol/task/message.ts";
import type { GoalPolicy } from "../../runner/assignment/assignment-options.ts";

/** Does tasks that name no agent. A goal's file has a definition of it. */
export const workerAgent = "worker";

export function assignTask(
  request: AssignmentRequest,
  { defaultModel }: { readonly defaultModel: string },
): Pick<NewTask, "runner" | "agent" | "input"> {
  const { goal, planned, file } = request;
  const agent = planned.agent ?? workerAgent;
  const config: AssignmentConfig = {
    goal: goal.id,
    handoff: handoffOf(request),
    checks: checksOf(request),
    criteria: goal.acceptance
      .filter(({ id, text }) => planned.acceptance.some((each) => each === id || each.trim() === text.trim()))
      .map(({ id, text }) => ({ id, text })),
    person: file.goal.model ?? null,
    inner: file.agents[agent]?.runner ?? null,
    author: file.goal.manager_model ?? file.model ?? defaultModel,
    workspace: workspaceOf(request.predecessors),
  };
  const input = {
    agent: { type: "named", agent_id: agent },
    message: userMessage(planned.prompt),
    tools: "*",
    context: "independent",
  };
  return { runner: { kind: "assignment", config }, agent, input };
}

/** How the task would be routed now; the assignment routes it when it starts. */
export function shownRoute(request: AssignmentRequest, { policy, isDefault }: GoalPolicy): ShownRoute {
  const { file, planned } = request;
  const routed = route(policy, handoffOf(request));
  if (!routed.ok) return { runner: "none", model: policy.policy.router, reason: routed.error.message };
  try {
    const chosen = chooseRoute({
      person: file.goal.model ?? null,
      decision: routed.value,
      isDefaultPolicy: isDefault,
      agent: file.agents[planned.agent ?? workerAgent]?.runner ?? null,
    });
    return { runner: chosen.runner.kind, model: chosen.model, reason: chosen.reason };
  } catch (thrown) {
    if (!(thrown instanceof TuttiError)) throw thrown;
    return { runner: "none", model: routed.value.model, reason: thrown.message };
  }
}

function handoffOf({ goal, planned, predecessors, file }: AssignmentRequest): Handoff {
  return makeHandoff({
    planned,
    goal: goal.text,
    predecessors: predecessors.map(({ planned: { id }, task, result }) => ({
      planned: id,
      task,
      branch: result.branch,
      commit: result.commit,
      claim: typeof result.claim === "string" ? result.claim : JSON.stringify(result.claim ?? ""),
    })),
    workspace: `a workspace of its own, made from ${planned.workdir}`,
    budget: Object.fromEntries(Object.entries(file.budget ?? {}).filter(([, limit]) => limit !== undefined)),
  });
}

/** A check that the person named runs for every task, and one that only the model named after an approval. */
function checksOf({ planned, file }: AssignmentRequest): NamedCheck[] {
  const named = new Set(file.goal.checks.map((check) => JSON.stringify(check)));
  const own = planned.checks.map((check): NamedCheck => ({ check, named_by: byOf(check, named), is_criterion: true }));
  const others = file.goal.checks.filter((check) => !planned.checks.some((each) => isSame(each, check)));
  return [...own, ...others.map((check): NamedCheck => ({ check, named_by: "person", is_criterion: false }))];
}

function byOf(check: Check, named: ReadonlySet<string>): NamedCheck["named_by"] {
  return named.has(JSON.stringify(check)) ? "person" : "model";
}

function isSame(one: Check, other: Check): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** It begins with the work of the tasks that it comes after; what one of them was built on is part of that one's commit. */
function workspaceOf(predecessors: readonly FinishedWork[]): AssignmentConfig["workspace"] {
  const built = new Set(predecessors.flatMap(({ planned }) => planned.after));
  const last = predecessors.filter(
    ({ planned, result }) => result.commit !== null && result.branch !== null && !built.has(planned.id),
  );
  const [only, another] = last;
  if (only === undefined) return {};
  return another === undefined ? { base: only.result.commit } : { after: last.map(({ task }) => task) };
}
