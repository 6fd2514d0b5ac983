// The runner `manager`: from a goal to a verified result, as one durable function over the phases of a goal.

import { asSentence } from "../core/as-sentence.ts";
import { inLine } from "../core/foreign-words.ts";
import { hasAllFailed, unfinishedTasks } from "../core/plan-graph.ts";
import { doneSentence } from "../core/done-sentence.ts";
import { goalOfTask } from "../core/goal-id.ts";
import type { Durable, Runner } from "../ports.ts";
import { TuttiError } from "../protocol/error.ts";
import { GoalFile, ProjectSettings } from "../protocol/invocation/goal-file.ts";
import { defaultBudget } from "../protocol/task/budget.ts";
import type { Goal } from "../protocol/task/goal.ts";
import type { GoalResult } from "../protocol/task/goal-report.ts";
import { approvePlan } from "./approve-plan.ts";
import { decideRound } from "./decide-round.ts";
import { askAboutGoal, changeStatus, type GoalRun, goalNow, openGoal, stopGoal, takeMessage } from "./goal-run.ts";
import type { ManagerDeps } from "./manager-deps.ts";
import { managerPrompt } from "./manager-prompt.ts";
import { postOutcome } from "./post-outcome.ts";
import { addRound, workOff } from "./work-off.ts";
import { verifyGoal } from "./verify-goal.ts";

/** How a goal ended without being done. */
interface Ended {
  readonly status: "failed" | "abandoned";
  readonly reason: string;
}

const another = "another round";

/** A goal that is not reached fails the task, and the events tell why. */
export function managerRunner(deps: ManagerDeps): Runner {
  return async (durable) => {
    const { file, problem } = await settledFile(durable, deps);
    const run = await intake(durable, deps, file);
    const ended = problem === undefined ? await pursue(run) : ({ status: "failed", reason: problem } as const);
    if (ended !== undefined) {
      if (ended.status === "failed") await postOutcome(run, ended);
      changeStatus(run, ended.status, ended.reason);
      const { id } = goalNow(run);
      throw new TuttiError("task_failed", `the goal was not reached: ${ended.reason}`, { details: { goal: id } });
    }
    const met = doneSentence(goalNow(run));
    const reason = run.despite === undefined ? met : `${met}; ${run.despite}`;
    await postOutcome(run, { status: "done", reason });
    changeStatus(run, "done", reason);
    return goalResult(run);
  };
}

/** INTAKE: the goal with the person's criteria. Nothing of it is the model's. */
async function intake(durable: Durable, deps: ManagerDeps, file: GoalFile): Promise<GoalRun> {
  const { text, accept, policy, texts } = file.goal;
  const at = await durable.now("intake");
  const goal: Goal = {
    id: goalOfTask(durable.task),
    task: durable.task,
    text,
    status: "pending",
    reason: "it was handed to the manager",
    acceptance: accept.map((one, index) => ({
      id: `c${index + 1}`,
      ...(typeof one === "string" ? { text: one } : one),
      from: "person",
      confirmed: true,
      state: "open",
      evidence: [],
    })),
    plan: [],
    links: [],
    notes: [],
    rounds: 0,
    policy: policy?.hash ?? null,
    budget: { ...defaultBudget, ...definedOf(file.budget) },
    roots: [...durable.rights.roots],
    created_at: at,
    updated_at: at,
  };
  return openGoal({ durable, deps, file, system: managerPrompt(texts) }, goal);
}

/** The settings that were not known when the goal started are recorded now, and hold to its end; `problem` says why they cannot be used. */
async function settledFile(
  durable: Durable,
  deps: ManagerDeps,
): Promise<{ readonly file: GoalFile; readonly problem?: string }> {
  const file = GoalFile.parse(durable.rootInput);
  if (!file.goal.settings_later) return { file };
  const options = { repeatable: true, schema: ProjectSettings } as const;
  try {
    const settings = await durable.step("settings", options, () => deps.settings(file));
    return { file: { ...file, goal: { ...file.goal, ...settings } } };
  } catch (thrown) {
    if (!(thrown instanceof TuttiError) || thrown.code !== "step_failed") throw thrown;
    return { file, problem: thrown.message };
  }
}

function definedOf(budget: GoalFile["budget"] = {}): Partial<Goal["budget"]> {
  return Object.fromEntries(Object.entries(budget).filter(([, limit]) => limit !== undefined));
}

/** Undefined when the goal is done. */
async function pursue(run: GoalRun): Promise<Ended | undefined> {
  let problems: readonly string[] = [];
  for (;;) {
    run.rounds += 1;
    const begun = await beginRound(run, problems);
    if (begun !== undefined) return { status: "failed", reason: begun };
    await workOff(run);
    if (run.stopped !== undefined) return { status: "abandoned", reason: run.stopped };
    const open = unfinishedTasks(run.graph, run.failures);
    const verified =
      open.length === 0
        ? await verifyGoal(run)
        : ({ kind: "again", problems: open.map(({ id, reason }) => `${id}: ${reason}`) } as const);
    if (verified.kind === "done") return undefined;
    if (verified.kind === "stop") return { status: "failed", reason: verified.reason };
    ({ problems } = verified);
    const refusal = await mayGoOn(run, problems);
    if (refusal !== undefined) return refusal;
  }
}

/** Decides, has the plan agreed to where that is asked for, and adds its tasks. Says why the goal ends otherwise. */
async function beginRound(run: GoalRun, problems: readonly string[]): Promise<string | undefined> {
  for (;;) {
    const decided = await decideRound(run, { problems });
    if (decided.kind === "stop") return decided.reason;
    if (decided.kind === "nothing") return "nothing was decided";
    const verdict = run.file.goal.plan ? await approvePlan(run, decided.round) : ({ kind: "go" } as const);
    if (verdict.kind === "stop") return verdict.reason;
    if (verdict.kind === "change") continue;
    addRound(run, decided.round);
    return undefined;
  }
}

/** Another round begins by itself as long as something was verified and the limit is not reached; otherwise a person decides. */
async function mayGoOn(run: GoalRun, problems: readonly string[]): Promise<Ended | undefined> {
  const { rounds } = run.file.goal.limits;
  const allFailed = hasAllFailed(run.graph);
  if (!allFailed && run.rounds < rounds) return undefined;
  const listed = problems.slice(0, 20).join("; ");
  const reason = allFailed
    ? `all tasks failed: ${listed}`
    : `after ${run.rounds} rounds, which is the limit, this is not done: ${listed}`;
  const question = `${asSentence(inLine(reason))} Should there be another round? Say what it is to do differently.`;
  const choices = { choices: [another, stopGoal], choices_with_words: [another] };
  const answer = await askAboutGoal(run, { question, ...choices, details: { problems } }, reason);
  if (answer === undefined) return { status: "failed", reason: `${reason} (nobody answered)` };
  if (answer.text === stopGoal) return { status: "abandoned", reason: `${answer.by.name} ended the goal: ${reason}` };
  if (answer.words !== "") takeMessage(run, answer.words);
  return undefined;
}

/** REPORT: what the manager knows itself. The whole report, with the cost, is made from the events of the tree. */
function goalResult(run: GoalRun): GoalResult {
  const { id, status, reason, acceptance, links } = goalNow(run);
  return {
    kind: "goal",
    goal: id,
    status,
    reason,
    criteria: acceptance.map((criterion) => ({ ...criterion, reason: run.goal.judgements.get(criterion.id) ?? "" })),
    tasks: links.map(({ task, planned, state, evidence }) => {
      const result = run.finished.get(planned)?.result;
      const { commit = null, branch = null } = result ?? {};
      const { worker = null, attempts = 1 } = result?.handoff ?? {};
      const why = run.goal.reasons.get(task) ?? "";
      return { id: planned, task, state, reason: why, worker, attempts, commit, branch, evidence };
    }),
    integration: run.goal.integration ?? null,
  };
}
