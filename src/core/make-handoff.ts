// The handoff of a planned task: each field of the envelope from the source that docs/routing.md names for it.

import { argvLine } from "../protocol/argv-line.ts";
import type { Check } from "../protocol/decision/decision.ts";
import type { Handoff } from "../protocol/routing/handoff.ts";
import type { Budget } from "../protocol/task/budget.ts";
import type { PlannedTask } from "../protocol/task/goal.ts";

/** How a handoff from a goal's manager names its sender. */
export const managerName = "manager";

/** A verified task that this one comes after. */
interface Predecessor {
  /** The id of the planned task. */
  readonly planned: string;
  readonly task: string;
  readonly branch: string | null;
  readonly commit: string | null;
  /** What it says of its result: a claim. */
  readonly claim: string;
}

type Limits = Readonly<Partial<Record<keyof Budget, number | undefined>>>;

interface HandoffSource {
  readonly planned: PlannedTask;
  /** The person's own words. */
  readonly goal: string;
  readonly predecessors: readonly Predecessor[];
  /** Where the work is done, such as "a worktree of /repo". */
  readonly workspace: string;
  readonly budget: Limits;
}

/** An envelope has no empty fields: what there is nothing to say about is written so. */
const none = "none";
const longestClaim = 2_000;

/** The confidence is the decomposing model's own. When it is missing it stays so, and the model is asked for it. */
export function makeHandoff({ planned, goal, predecessors, workspace, budget }: HandoffSource): Handoff {
  const { runtime, model, conf } = planned;
  const destination = [runtime, model].filter((part) => part !== null).join(":");
  const refs = predecessors.map(referenceTo);
  return {
    task_id: planned.id,
    from_model: managerName,
    to_model: textOr(destination),
    objective: planned.prompt,
    scope: textOr(planned.kind ?? ""),
    constraints: listOr(planned.constraints),
    current_state: stateOf(goal, predecessors),
    artifact_refs: listOr(refs),
    expected_output: { result: "the finished work and a short account of it", checks: planned.checks.map(lineOf) },
    acceptance_criteria: listOr(planned.acceptance),
    risks: listOr(planned.risks),
    fallback_triggers: [none],
    ...(conf === null ? {} : { conf }),
    assumptions_made: listOr(planned.assumptions),
    open_questions: [none],
    failed_checks: [none],
    context: { state: `workspace: ${workspace}; budget: ${budgetText(budget)}`, refs: listOr(refs) },
  };
}

function textOr(text: string): string {
  return text.trim() === "" ? none : text;
}

function listOr(list: readonly string[]): string[] {
  return list.length === 0 ? [none] : [...list];
}

function referenceTo({ planned, task, branch, commit }: Predecessor): string {
  const where = [branch === null ? "" : `branch ${branch}`, commit === null ? "" : `commit ${commit}`];
  return [`task ${planned} (${task})`, ...where.filter((part) => part !== "")].join(", ");
}

function stateOf(goal: string, predecessors: readonly Predecessor[]): string {
  const done = predecessors.map(
    ({ planned, claim }) => `done before: ${planned}. It says: ${claim.slice(0, longestClaim)}`,
  );
  return [`goal: ${goal}`, ...done].join("\n");
}

function lineOf(check: Check): string {
  return typeof check === "string" ? check : argvLine(check.run);
}

function budgetText(budget: Limits): string {
  const limits = Object.entries(budget).flatMap(([name, limit]) => (limit === undefined ? [] : [`${name} ${limit}`]));
  return limits.length === 0 ? "that of the goal" : limits.join(", ");
}
