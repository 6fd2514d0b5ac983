// One goal under way: what the manager's phases share, the events it tells, and its questions to the person.

import { emptyGoal, type FoldedGoal, foldGoalEvent, type GoalEvent, goalIn } from "../core/fold-goal.ts";
import { emptyGraph, type PlanGraph } from "../core/plan-graph.ts";
import type { Model } from "../model-port.ts";
import type { AskSpec, Durable } from "../ports.ts";
import { TuttiError } from "../protocol/error.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { GoalFile } from "../protocol/invocation/goal-file.ts";
import { Answer, type Answerer, choiceIn } from "../protocol/task/ask.ts";
import type { Evidence, EvidenceFact } from "../protocol/task/evidence.ts";
import type { Goal, GoalStatus, PlannedTask } from "../protocol/task/goal.ts";
import { type CompleteMessage, messageText } from "../protocol/task/message.ts";
import type { FinishedWork, ManagerDeps } from "./manager-deps.ts";

/** The phases change it in place. After a restart the same code builds it again from what is recorded. */
export interface GoalRun {
  readonly durable: Durable;
  readonly deps: ManagerDeps;
  readonly file: GoalFile;
  readonly model: Model;
  readonly modelName: string;
  readonly system: string;
  readonly goal: FoldedGoal;
  readonly graph: PlanGraph;
  /** What the manager's model was told and what it replied, in all rounds. */
  readonly conversation: CompleteMessage[];
  /** Tasks that were launched and have not ended. */
  readonly inFlight: Map<TaskId, PlannedTask>;
  /** Launched tasks by their name in the plan. */
  readonly tasks: Map<string, TaskId>;
  readonly finished: Map<string, FinishedWork>;
  /** Why a task failed, by its name in the plan. */
  readonly failures: Map<string, string>;
  /** What the person said and no decision has taken up yet. */
  readonly followUps: string[];
  /** How many rounds were begun without a person. */
  rounds: number;
  /** Numbers the operations that have no name of their own. The order of operations is the same after a restart. */
  operations: number;
  /** Tasks that are done and not verified. */
  readonly unproven: Map<TaskId, Unproven>;
  /** What failed on the merged work in earlier rounds. */
  readonly brokenWhole: Set<string>;
  /** Doubts about the merged work that a person has settled. */
  readonly accepted: Set<string>;
  /** What a person accepted on the merged work although it failed. */
  despite: string | undefined;
  /** How many results are taken before it is looked again which other tasks have ended. */
  readonly looks: { pause: number; skip: number };
  /** Set when the person ended the goal. */
  stopped: string | undefined;
}

/** What a task lacks that is done. */
interface Unproven {
  /** Its name in the plan. */
  readonly planned: string;
  /** Checks of the person that still failed after it; the merged work may pass them. */
  readonly pending: readonly (readonly string[])[];
  /** Why nobody could judge it; a person is asked about all of these together. */
  readonly unjudged?: string | undefined;
}

type GoalRunParts = Pick<GoalRun, "durable" | "deps" | "file" | "system">;

/** Tells of the goal, and keeps what it needs for the phases. */
export function openGoal(parts: GoalRunParts, goal: Goal): GoalRun {
  const { durable, deps, file, system } = parts;
  const run: GoalRun = {
    durable,
    deps,
    file,
    system,
    model: deps.model(file),
    modelName: file.goal.manager_model ?? file.model ?? deps.defaultModel,
    goal: emptyGoal(durable.task),
    graph: emptyGraph(),
    conversation: [],
    inFlight: new Map(),
    tasks: new Map(),
    finished: new Map(),
    failures: new Map(),
    followUps: [],
    rounds: 0,
    operations: 0,
    unproven: new Map(),
    brokenWhole: new Set(),
    accepted: new Set(),
    despite: undefined,
    looks: { pause: 0, skip: 0 },
    stopped: undefined,
  };
  tell(run, { type: "goal.created", data: { goal } });
  return run;
}

/** The key of the next operation of a kind. */
export function nextKey(run: GoalRun, kind: string): string {
  run.operations += 1;
  return `${kind}.${run.operations}`;
}

/** Records the event and takes it into the manager's own view of the goal, which then equals what every reader folds. */
export function tell(run: GoalRun, event: GoalEvent): void {
  run.durable.tell(nextKey(run, event.type), event);
  foldGoalEvent(run.goal, event, run.goal.base?.created_at ?? 0);
}

export function goalNow(run: GoalRun): Goal {
  const goal = goalIn(run.goal);
  if (goal === undefined) throw new TuttiError("internal", "the goal was not created");
  return goal;
}

export function changeStatus(run: GoalRun, status: GoalStatus, reason: string): void {
  const { base } = run.goal;
  if (base?.status !== status || base.reason !== reason) tell(run, { type: "goal.changed", data: { status, reason } });
}

export function noteOnGoal(run: GoalRun, text: string): void {
  if (text.trim() !== "") tell(run, { type: "goal.noted", data: { text } });
}

/** Tells of a fact about the manager's own task, such as a person's word. */
export async function addEvidence(
  run: GoalRun,
  fact: EvidenceFact,
  about: Pick<Evidence, "source" | "criteria">,
): Promise<Evidence> {
  const key = nextKey(run, "evidence");
  const { durable } = run;
  const evidence: Evidence = {
    id: `evd_${durable.task.slice("tsk_".length)}.${durable.attempt}.${run.operations}`,
    task: durable.task,
    attempt: durable.attempt,
    commit: null,
    tree: null,
    verdict: "supports",
    excerpt: "",
    fact,
    observed_at: await durable.now(`${key}.at`),
    ...about,
  };
  durable.tell(key, { type: "evidence.added", data: { evidence } });
  return evidence;
}

export interface PersonAnswer {
  /** The choice, where there are choices. */
  readonly text: string;
  /** What was added to the choice. */
  readonly words: string;
  readonly by: Answerer;
}

/**
 * Blocks the goal until somebody answers; undefined when nobody did. A message to the goal answers a question without
 * choices; while there are choices it is kept for the next decision, except for `stop`.
 */
export async function askAboutGoal(
  run: GoalRun,
  ask: Omit<AskSpec, "kind" | "answer_schema">,
  reason: string,
): Promise<PersonAnswer | undefined> {
  changeStatus(run, "blocked", reason);
  const answer = await question(run, ask);
  if (answer !== undefined) changeStatus(run, "in_progress", `${answer.by.name} answered`);
  return answer;
}

async function question(run: GoalRun, ask: Omit<AskSpec, "kind">): Promise<PersonAnswer | undefined> {
  const { durable } = run;
  const key = nextKey(run, "ask");
  const wait = await durable.open(key, { ask: { kind: "question", ...ask }, schema: Answer });
  for (;;) {
    const first = await durable.select(nextKey(run, "answer"), [{ wait }, { message: true }]);
    if (first.kind === "message") {
      const text = messageText(first.value);
      const ends = ask.choices !== undefined && isStop(text) && ask.choices.includes(stopGoal);
      if (ask.choices !== undefined && !ends) {
        takeMessage(run, text);
        continue;
      }
      await durable.withdraw(`${key}.answered`, wait);
      return { text: ends ? stopGoal : text, words: "", by: { kind: "person", name: "a message" } };
    }
    if (first.kind !== "wait" || "expired" in first.value) return undefined;
    const { value, by } = first.value;
    const answer = Answer.parse(value);
    const said = answer.kind === "question" ? String(answer.value) : "";
    const chosen = choiceIn(ask, said);
    if (ask.choices === undefined) return { text: said, words: "", by };
    // Asked by a version that took any text: what is none of the choices decides nothing.
    return chosen === undefined ? undefined : { text: chosen.choice, words: chosen.words, by };
  }
}

/** The answer, and the message, that ends a goal. */
export const stopGoal = "stop";

export function isStop(text: string): boolean {
  return text.trim().toLowerCase() === stopGoal;
}

/** Kept for the next decision, and on the goal for everybody to read. */
export function takeMessage(run: GoalRun, text: string): void {
  noteOnGoal(run, `the person: ${text}`);
  run.followUps.push(text);
}

/** A yes or no about something that is shown; a no may say why. */
export async function approveOnGoal(
  run: GoalRun,
  ask: Pick<AskSpec, "question" | "details">,
  reason: string,
): Promise<{ readonly approved: boolean; readonly reason: string; readonly by: Answerer | undefined }> {
  changeStatus(run, "blocked", reason);
  const waited = await run.durable.wait(nextKey(run, "approval"), {
    ask: { kind: "approval", ...ask },
    schema: Answer,
  });
  if ("expired" in waited) return { approved: false, reason: "nobody answered in time", by: undefined };
  const { value, by } = waited;
  const approved = value.kind === "approval" && value.approved;
  if (approved) changeStatus(run, "in_progress", `${by.name} agreed`);
  return { approved, reason: value.kind === "approval" ? (value.reason ?? "") : "", by };
}
