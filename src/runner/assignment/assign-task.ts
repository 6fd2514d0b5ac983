// Makes the task that carries out a planned one: its handoff, its checks, its agent and the work that it builds on.

import { baseAgent } from "../../agent/delegation/find-agent.ts";
import type { TaskInput } from "../../agent/delegation/task-input.ts";
import { makeHandoff } from "../../core/make-handoff.ts";
import { isSameCheck } from "../../core/read-check.ts";
import type { Check } from "../../protocol/decision/decision.ts";
import type { AgentDefinition } from "../../protocol/invocation/invocation-file.ts";
import type { RunnerConfig } from "../../protocol/invocation/executor.ts";
import type { AssignmentConfig, AssignmentResult } from "../../protocol/task/assignment.ts";
import type { NamedCheck } from "../../protocol/task/named-check.ts";
import type { Goal, PlannedTask } from "../../protocol/task/goal.ts";
import { userMessage } from "../../protocol/task/message.ts";
import type { NewTask } from "../../ports.ts";

/** A verified task that the planned one builds on. */
interface FinishedTask {
  readonly planned: Pick<PlannedTask, "id" | "workdir">;
  readonly task: string;
  readonly result: Pick<AssignmentResult, "claim" | "branch" | "commit">;
}

export interface TaskToAssign {
  readonly goal: Pick<Goal, "id" | "text" | "acceptance" | "plan">;
  readonly planned: PlannedTask;
  readonly predecessors: readonly FinishedTask[];
  /** Agents of the tree, by name. */
  readonly agents: Readonly<Record<string, AgentDefinition>>;
  /** The model that planned the task. */
  readonly author: string;
  /** Checks that the person named for the whole goal. */
  readonly checks: readonly Check[];
  /** Nothing of the goal is left after this task, so the person's checks must succeed with it. */
  readonly isLast: boolean;
  /** Checks that the project's config named. */
  readonly projectChecks?: readonly NamedCheck[];
  /** The `[runner:]model` that the person chose for the work. */
  readonly person?: string | null;
  /** The policy of the goal, when its recorded input has none. */
  readonly policy?: AssignmentConfig["policy"];
}

/** The same for the same request, also after a restart. */
export function assignmentTask(request: TaskToAssign): Pick<NewTask, "runner" | "agent" | "input"> {
  const { goal, planned, predecessors, agents, author, person = null, policy } = request;
  const agent = planned.agent !== null && Object.hasOwn(agents, planned.agent) ? planned.agent : baseAgent;
  const definition = Object.hasOwn(agents, agent) ? agents[agent] : undefined;
  const before = predecessors.map(({ planned: { id }, task, result: { branch, commit, claim } }) => ({
    planned: id,
    task,
    branch,
    commit,
    claim: typeof claim === "string" ? claim : (JSON.stringify(claim) ?? ""),
  }));
  const config: AssignmentConfig = {
    goal: goal.id,
    handoff: makeHandoff({
      planned,
      goal: goal.text,
      predecessors: before,
      workspace: `a workspace of ${planned.workdir}`,
      budget: definition?.budget ?? {},
    }),
    checks: namedChecks(request),
    criteria: goal.acceptance.map(({ id, text, by }) => ({ id, text, ...(by === undefined ? {} : { by }) })),
    judged_at_end: hasOthers(goal.plan),
    person,
    inner: definition === undefined ? null : ownRunner(definition),
    author,
    workspace: workspaceAfter(request),
    ...(policy === undefined ? {} : { policy }),
  };
  const input: TaskInput = {
    agent: { type: "named", agent_id: agent },
    message: userMessage(planned.prompt),
    tools: "*",
    context: "independent",
  };
  return { runner: { kind: "assignment", config }, agent, input };
}

/** A check of the plan that the person or the config named too runs unasked, like all of theirs. */
function namedChecks({ planned, checks, isLast, projectChecks = [] }: TaskToAssign): NamedCheck[] {
  const own = planned.checks.map((check): NamedCheck => {
    const ofProject = projectChecks.find((each) => isSameCheck(each.check, check));
    if (ofProject !== undefined) return { ...ofProject, is_criterion: true };
    const isPersons = checks.some((each) => isSameCheck(each, check));
    return { check, named_by: isPersons ? "person" : "model", is_criterion: true };
  });
  const persons = checks.map((check): NamedCheck => ({ check, named_by: "person", is_criterion: isLast }));
  const others = [...projectChecks, ...persons].filter(
    ({ check }, at, all) =>
      !planned.checks.some((each) => isSameCheck(each, check)) &&
      all.findIndex((each) => isSameCheck(each.check, check)) === at,
  );
  return [...own, ...others];
}

/** Besides one task and those that it takes the place of. */
function hasOthers(plan: Goal["plan"]): boolean {
  const replaced = new Set(plan.map(({ supersedes }) => supersedes));
  return plan.filter(({ id }) => !replaced.has(id)).length > 1;
}

function ownRunner({ runner, model }: AgentDefinition): RunnerConfig | null {
  if (runner === undefined) return model === undefined ? null : { kind: "local", config: { model } };
  if (runner.kind !== "local" || model === undefined) return runner;
  return { kind: "local", config: { ...Object(runner.config), model } };
}

/** The files of what it builds on, as far as that lies in the same folder. */
function workspaceAfter({ planned, predecessors }: TaskToAssign): AssignmentConfig["workspace"] {
  const [first, ...more] = predecessors.filter(
    ({ planned: { workdir }, result }) =>
      workdir === planned.workdir && result.commit !== null && result.branch !== null,
  );
  if (first === undefined) return {};
  if (more.length === 0) return { base: first.result.commit };
  return { after: [first, ...more].map(({ task }) => task) };
}
