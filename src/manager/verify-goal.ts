// VERIFY: merges the work of the tasks, has the criteria checked on it as a whole, and says what the goal still lacks.

import { isSameArgv } from "../core/criterion-check.ts";
import { inLine, quoted } from "../core/foreign-words.ts";
import { goalGate } from "../core/goal-gate.ts";
import { checkLine } from "../core/make-evidence.ts";
import type { EvidenceId, TaskId } from "../protocol/ids.ts";
import type { AskedWork } from "../protocol/task/assignment.ts";
import type { Criterion } from "../protocol/task/goal.ts";
import {
  addEvidence,
  askAboutGoal,
  type GoalRun,
  goalNow,
  nextKey,
  noteOnGoal,
  stopGoal,
  takeMessage,
  tell,
} from "./goal-run.ts";
import { type FinishedWork, IntegrationResult } from "./manager-deps.ts";

/** `again`: another round is needed, because of these problems. */
export type Verified =
  | { readonly kind: "done" }
  | { readonly kind: "again"; readonly problems: readonly string[] }
  | { readonly kind: "stop"; readonly reason: string };

const accept = "accept as met";
const acceptAll = "accept all";
const acceptAnyway = "accept as it is";
const again = "another round";

export async function verifyGoal(run: GoalRun): Promise<Verified> {
  const goal = goalNow(run);
  const verified = [...run.finished.values()].map(({ planned }) => planned);
  const request = { goal, task: run.durable.task, file: run.file, work: workToMerge(run), verified };
  const options = { repeatable: true, schema: IntegrationResult } as const;
  const result = await run.durable.step(nextKey(run, "integrate"), options, (step) =>
    run.deps.integrate(request, step),
  );
  if (result.kind === "conflict") {
    const files = result.files.length === 0 ? "" : ` in ${result.files.join(", ")}`;
    return {
      kind: "again",
      problems: [`the work of ${result.between.join(" and ")} conflicts${files}: ${result.reason}`],
    };
  }
  for (const evidence of result.evidence) {
    run.durable.tell(nextKey(run, "evidence"), { type: "evidence.added", data: { evidence } });
  }
  if (result.integration !== null) tell(run, { type: "goal.integrated", data: result.integration });
  for (const judged of result.criteria) tell(run, { type: "goal.criterion_judged", data: judged });
  for (const doubt of result.doubts) noteOnGoal(run, onTheWhole(doubt));
  const { acceptance } = goalNow(run);
  const unmet = acceptance.filter(({ state }) => state === "unmet").map((one) => problemOf(run, one));
  const failures = result.failures.map(onTheWhole);
  if (unmet.length > 0 || failures.length > 0) {
    const problems = [...unmet, ...failures];
    const isNew = problems.some((problem) => !run.brokenWhole.has(problem));
    for (const problem of problems) run.brokenWhole.add(problem);
    if (unmet.length > 0 || isNew) return { kind: "again", problems };
    const settled = await askAboutFailures(run, failures);
    if (settled.kind !== "accepted") return settled;
  }
  const unsettled = result.unsettled.filter((one) => !run.accepted.has(one)).map(onTheWhole);
  if (unsettled.length > 0) {
    const settled = await askAboutFailures(run, unsettled);
    if (settled.kind !== "accepted") return settled;
    for (const one of result.unsettled) run.accepted.add(one);
  }
  const left = await proveTheRest(run, result);
  if (left !== undefined) return left;
  const open = acceptance.filter(({ state }) => state === "open");
  if (open.length > 0 || run.unproven.size > 0) return askAboutTheRest(run, open);
  const { open: isOpen, missing } = goalGate(goalNow(run));
  return isOpen ? { kind: "done" } : { kind: "again", problems: missing };
}

/** The merged work passes the checks of the person that failed after some of its tasks, so these are verified now. */
async function proveTheRest(
  run: GoalRun,
  { evidence }: Extract<IntegrationResult, { kind: "checked" }>,
): Promise<Verified | undefined> {
  for (const [task, { planned, pending, unjudged }] of run.unproven) {
    if (pending.length === 0) continue;
    const proofs = pending.map((argv) =>
      evidence.find(({ fact }) => fact.kind === "check" && fact.outcome === "passed" && isSameArgv(fact.argv, argv)),
    );
    const ids = [...evidenceOf(run, task), ...proofs.flatMap((proof) => proof?.id ?? [])];
    const missing = pending.filter((_, at) => proofs[at] === undefined);
    let reason = "what still failed after it passes on the merged work";
    if (missing.length > 0) {
      const lines = missing.map((argv) => `${checkLine({ argv: [...argv] })} was not seen to pass.`);
      const settled = await askAboutFailures(run, lines);
      if (settled.kind !== "accepted") return settled;
      ids.push(settled.evidence);
      reason = `${settled.by} accepted it`;
    }
    const state = unjudged === undefined ? "verified" : "unverified";
    const why = unjudged ?? reason;
    tell(run, { type: "goal.link_changed", data: { task, state, superseded_by: null, evidence: ids, reason: why } });
    if (unjudged === undefined) run.unproven.delete(task);
    else run.unproven.set(task, { planned, pending: [], unjudged });
  }
  return undefined;
}

function evidenceOf(run: GoalRun, task: TaskId): readonly EvidenceId[] {
  return goalNow(run).links.find((link) => link.task === task)?.evidence ?? [];
}

function onTheWhole(sentence: string): string {
  return `on the work of all tasks together: ${sentence}`;
}

type Settled = { readonly kind: "accepted"; readonly evidence: EvidenceId; readonly by: string } | Verified;

/** What no further round mended, and no model can settle: a person takes the work as it is, or does not. */
async function askAboutFailures(run: GoalRun, failures: readonly string[]): Promise<Settled> {
  const reason = failures.join(" ");
  const question = `This is not settled: ${inLine(reason)} Do you accept the work as it is?`;
  const answer = await askAboutGoal(run, { question, choices: [acceptAnyway, again, stopGoal] }, reason);
  if (answer === undefined) return { kind: "stop", reason: `${reason} Nobody answered.` };
  if (answer.text === again) return { kind: "again", problems: failures };
  if (answer.text !== acceptAnyway || answer.by.kind !== "person") return { kind: "stop", reason };
  const by = answer.by.name;
  const fact = { kind: "person", by, text: `${acceptAnyway}, despite: ${reason}` } as const;
  const { id } = await addEvidence(run, fact, { source: by, criteria: [] });
  run.despite = `${by} accepted the work, despite: ${reason}`;
  noteOnGoal(run, run.despite);
  return { kind: "accepted", evidence: id, by };
}

function problemOf({ goal }: GoalRun, { id, text }: Criterion): string {
  return `criterion ${id} is not met (${text}): ${goal.judgements.get(id) ?? ""}`;
}

/** In the order of the plan, whichever ended first. Work that another task was built on is part of that one's commit. */
function workToMerge({ finished, graph }: GoalRun): FinishedWork[] {
  const originOf = (id: string): string => graph.nodes.get(id)?.origin ?? id;
  const built = new Set([...finished.values()].flatMap(({ planned }) => planned.after.map(originOf)));
  const places = new Map([...graph.nodes.keys()].map((id, at) => [id, at]));
  const placeOf = ({ planned }: FinishedWork): number => places.get(planned.id) ?? places.size;
  return [...finished.values()]
    .filter(({ planned }) => !built.has(originOf(planned.id)))
    .toSorted((one, other) => placeOf(one) - placeOf(other));
}

interface Unsettled {
  /** What the answers are about, each with what is missing. */
  readonly lacking: readonly string[];
  /** The names of the tasks and criteria. */
  readonly names: readonly string[];
  readonly tasks: GoalRun["unproven"];
  readonly open: readonly Criterion[];
}

/** Without a check or a review by another model, only a person's recorded word proves a criterion or a task. They are asked once. */
async function askAboutTheRest(run: GoalRun, open: readonly Criterion[]): Promise<Verified> {
  const rest = unsettledOf(run, open);
  const { lacking, names, tasks } = rest;
  const reason = `nothing proves ${names.join(", ")}`;
  const yes = tasks.size === 0 ? accept : acceptAll;
  const details = {
    criteria: open.map(({ id, text, from }) => ({ id, text, from })),
    ...(tasks.size === 0 ? {} : { tasks: workOf(run, tasks) }),
  };
  const choices = { choices: [yes, again, stopGoal], choices_with_words: [again] };
  const answer = await askAboutGoal(run, { question: questionOf(run, rest), ...choices, details }, reason);
  if (answer === undefined) return { kind: "stop", reason: `${reason}, and nobody answered` };
  if (answer.text === again) {
    if (answer.words !== "") takeMessage(run, answer.words);
    return { kind: "again", problems: lacking.map((one) => `nothing proves ${one}`) };
  }
  if (answer.text !== yes || answer.by.kind !== "person") return { kind: "stop", reason };
  const by = answer.by.name;
  const text = tasks.size === 0 ? yes : `${yes}: ${names.join(", ")}`;
  const criteria = open.map((one) => one.id);
  const { id } = await addEvidence(run, { kind: "person", by, text }, { source: by, criteria });
  for (const [task, { unjudged }] of tasks) {
    const said = { reason: `${by} accepted it. Despite: ${unjudged ?? ""}`, evidence: [...evidenceOf(run, task), id] };
    tell(run, { type: "goal.link_changed", data: { task, state: "verified", superseded_by: null, ...said } });
  }
  tasks.clear();
  for (const one of open) judgeByPerson(run, one.id, { evidence: id, by });
  if (open.length > 0) tell(run, { type: "goal.criteria_confirmed", data: { ids: criteria, by: answer.by } });
  const { open: isOpen, missing } = goalGate(goalNow(run));
  return isOpen ? { kind: "done" } : { kind: "again", problems: missing };
}

function unsettledOf(run: GoalRun, open: readonly Criterion[]): Unsettled {
  const tasks = [...run.unproven.values()];
  return {
    lacking: [
      ...tasks.map(({ planned, unjudged = "" }) => `${planned}: ${inLine(unjudged)}`),
      ...open.map(({ id, text }) => `${id}: ${run.goal.judgements.get(id) ?? `"${text}": nothing proves it.`}`),
    ],
    names: [...tasks.map(({ planned }) => planned), ...open.map(({ id }) => id)],
    tasks: run.unproven,
    open,
  };
}

function questionOf(run: GoalRun, { lacking, tasks, open }: Unsettled): string {
  const count = tasks.size === 1 ? "one task" : `${tasks.size} tasks`;
  const and = open.length === 0 ? "" : " and criteria";
  const branch = run.goal.integration?.branch ?? null;
  const [head, counted] =
    tasks.size === 0
      ? ["All tasks are verified, and these criteria are not proven:", "They count as met only by your word."]
      : [
          `All tasks are done. Nobody but the model that did the work could judge ${count}${and}, and nothing else proves them:`,
          `They count as verified${open.length === 0 ? "" : " and met"} only by your word.`,
        ];
  const where =
    tasks.size === 0 || branch === null ? [] : [`The work of all tasks is on the branch ${inLine(branch)}.`];
  return [head, quoted(lacking.join("\n")), ...where, `Do you accept this? ${counted}`].join("\n");
}

/** By which a front can show the work. */
function workOf(run: GoalRun, tasks: GoalRun["unproven"]): AskedWork[] {
  return [...tasks.values()].map(({ planned }) => {
    const { branch = null, commit = null } = run.finished.get(planned)?.result ?? {};
    return { handoff: planned, branch, commit };
  });
}

function judgeByPerson(run: GoalRun, id: string, { evidence, by }: { evidence: EvidenceId; by: string }): void {
  const data = { id, state: "met" as const, evidence: [evidence], reason: `${by} accepted it` };
  tell(run, { type: "goal.criterion_judged", data });
}
