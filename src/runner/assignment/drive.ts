// Drives one attempt of an assignment: route, work, verify, review, and again, as the state machine of handoffs decides.

import { chooseRoute, type ChosenRoute } from "../../core/choose-route.ts";
import type { HandoffEvent, HandoffNext } from "../../core/handoff-machine.ts";
import { isUnreadable, namedCommand } from "../../core/criterion-check.ts";
import { weighFact } from "../../core/make-evidence.ts";
import { managerName } from "../../core/make-handoff.ts";
import { argvLine } from "../../protocol/argv-line.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { AssignmentResult } from "../../protocol/task/assignment.ts";
import type { Evidence } from "../../protocol/task/evidence.ts";
import { readRecord } from "../../workspace/index.ts";
import { askAboutWork } from "./ask-about-work.ts";
import { askRouter, decidedEvent, repairedEnvelope } from "./ask-router.ts";
import { type Attempt, claimText, hashOf } from "./attempt.ts";
import { effortOf, resultOf } from "./attempt-result.ts";
import { Kept, type Worked } from "./attempt-records.ts";
import type { Carried, Standing, Work } from "./config.ts";
import { verifyAttempt } from "./observe-attempt.ts";
import { decidePrompt, repairPrompt } from "./prompts.ts";
import { review } from "./review-work.ts";
import { runInner } from "./run-inner.ts";

export async function driveAttempt(attempt: Attempt): Promise<AssignmentResult> {
  let next = await begin(attempt);
  for (;;) {
    if (next.do === "end") {
      const unproven = whyUnproven(attempt);
      if (unproven === undefined || attempt.unjudged !== undefined) return resultOf(attempt);
      next = attempt.advance({ type: "unproven", reason: unproven }).next;
      continue;
    }
    if (next.do === "work" && attempt.worked !== undefined) {
      const left = await tryAgain(attempt, workOf(attempt, next));
      return resultOf(attempt, left);
    }
    const event = await carryOut(attempt, next);
    if (event === undefined) return resultOf(attempt, `${attempt.reason}. Nobody said what becomes of it.`);
    next = attempt.advance(event).next;
  }
}

/** Where an attempt begins: with the envelope, with the work it was given, or where it was when it was cut off. */
async function begin(attempt: Attempt): Promise<HandoffNext> {
  const { durable, config } = attempt;
  const kept = (await durable.restore(Kept))?.state ?? durable.stoppedState(Kept);
  const standing = kept?.assigned ?? config.carried;
  if (standing === undefined) {
    const { handoff } = attempt;
    return attempt.advance({ type: "envelope", handoff, hash: hashOf(handoff) }).next;
  }
  attempt.state = standing.state;
  attempt.handoff = standing.handoff;
  attempt.reason = standing.work.reason;
  attempt.isRestored = kept !== undefined;
  const { worked } = kept?.assigned ?? {};
  if (worked === undefined) return { do: "work", ...standing.work };
  await giveUpLost(attempt, { ...standing, worked });
  attempt.beginAfterWork(worked);
  return attempt.advance(workedEvent(worked)).next;
}

/** The work is on a machine that was lost: nothing of it can be checked here. The next attempt begins with what was pushed of it. */
async function giveUpLost(
  { durable, options, config }: Attempt,
  { state, handoff, work: next, worked: { saved } }: Standing & { readonly worked: Worked },
): Promise<void> {
  const { store } = options.workspaces ?? {};
  if (saved === null || store?.machine === undefined || readRecord(store, saved.workspace) !== undefined) return;
  const left = saved.branch === null ? "" : ` except for what was pushed to the branch ${saved.branch}`;
  const reason = `The work of this attempt is in a workspace on another machine, so it cannot be checked here and may be lost${left}.`;
  const carried: Carried = { state, handoff, work: next, base: config.carried?.base ?? saved.base, commit: saved.tip };
  const runner = { kind: "assignment", config: { ...config, carried } };
  try {
    await durable.again("assigned.lost", { outcome: "unknown", reason, runner });
  } catch (thrown) {
    // It has had all its attempts, so it is judged as it is: unchecked.
    if (!(thrown instanceof TuttiError) || thrown.code !== "refused") throw thrown;
  }
}

/** Undefined when a person was asked and nobody answered. */
async function carryOut(attempt: Attempt, next: HandoffNext): Promise<HandoffEvent | undefined> {
  switch (next.do) {
    case "work": {
      const worked = await work(attempt, workOf(attempt, next));
      attempt.beginAfterWork(worked);
      return workedEvent(worked);
    }
    case "verify":
      return verify(attempt);
    case "review":
      return review(attempt, next);
    case "repair":
    case "decide":
      return consult(attempt, next);
    case "ask_human":
      return askPerson(attempt, next);
    case "end":
    case "nothing":
      throw new TuttiError("internal", `an assignment cannot carry out "${next.do}"`);
  }
}

function workOf({ reason }: Attempt, next: HandoffNext & { do: "work" }): Work {
  const { model, evidence, criteria, fallback_models } = next;
  const then = fallback_models === undefined ? {} : { fallback_models: [...fallback_models] };
  return { model, evidence: [...evidence], criteria: [...criteria], ...then, reason };
}

async function work(attempt: Attempt, wanted: Work): Promise<Worked> {
  const { config, routing, options, state } = attempt;
  const routed = state.routed?.decision;
  const isFirst = routed?.model === wanted.model && routed.reason === wanted.reason;
  const route = chooseRoute({
    person: config.person,
    decision: {
      model: wanted.model,
      reason: wanted.reason,
      matched_by: routed?.matched_by ?? "default",
      words: isFirst ? routed.words : [],
    },
    isDefaultPolicy: routing.isDefault,
    agent: config.inner,
    registered: options.registered,
  });
  attempt.state = { ...state, worker: refOf(route) };
  // Work begins once in a run, also when a restart comes here by another way.
  attempt.durable.tell("assigned.route", {
    type: "route.decided",
    data: {
      handoff: attempt.handoff,
      model: route.model,
      runner: route.runner.kind,
      chosen_by: route.chosen_by,
      reason: route.reason,
      matched_by: route.matched_by,
      words: [...route.words],
    },
  });
  return runInner(attempt, route, wanted);
}

/** As a policy would name it. */
function refOf({ runner: { kind }, model }: ChosenRoute): string {
  return kind === "local" ? model : `${kind}:${model}`;
}

function workedEvent({ failure }: Worked): HandoffEvent {
  return failure === null ? { type: "worked" } : { type: "stuck", evidence: [failure] };
}

async function verify(attempt: Attempt): Promise<HandoffEvent> {
  const observed = await verifyAttempt(attempt);
  attempt.observed = observed;
  for (const { fact, criteria } of observed.facts) attempt.add(fact, { at: observed.at, criteria });
  const { verdict, reason, notes } = attempt.judge();
  const evidence = [reason, ...notes, ...attempt.evidence.flatMap(failedOutput)];
  // What must be looked at by somebody else counts as not checked, so that it is reviewed.
  const outcome = verdict === "verified" ? "pass" : verdict === "failed" ? "fail" : "none";
  return { type: "verified", outcome, evidence, mustPass: attempt.evidence.some(mustPass) };
}

/** A check that only a model named need not pass. */
function mustPass({ fact, verdict }: Evidence): boolean {
  return fact.kind === "check" && fact.named_by !== "model" && verdict === "contradicts";
}

function failedOutput({ fact, excerpt }: Evidence): string[] {
  if (fact.kind !== "check" || fact.outcome === "passed" || excerpt === "") return [];
  return [`output of ${argvLine(fact.argv)}:\n${excerpt}`];
}

/** Asks the router, or the sender about its confidence. When that fails, a person is asked instead. */
async function consult(attempt: Attempt, next: HandoffNext & { do: "repair" | "decide" }): Promise<HandoffEvent> {
  const { durable, options, config, routing, handoff } = attempt;
  const isSender = next.do === "repair" && next.model === managerName;
  const ref = isSender ? (config.author ?? routing.policy.policy.router) : next.model;
  const prompt =
    next.do === "repair"
      ? repairPrompt(handoff, next.problem, next.fields)
      : decidePrompt(handoff, next.reason, next.evidence);
  const call = {
    ...prompt,
    key: attempt.key(next.do),
    ref,
    model: options.modelOf(durable),
    resolve: options.resolveModel,
  };
  let text: string;
  try {
    text = await askRouter(durable, call);
  } catch (thrown) {
    if (!(thrown instanceof TuttiError) || !["step_failed", "refused", "invalid_input"].includes(thrown.code))
      throw thrown;
    return { type: "escalated", reason: `${ref} could not be asked: ${thrown.message}` };
  }
  const envelope = { handoff, from: ref, hash: hashOf };
  const answered =
    next.do === "repair"
      ? repairedEnvelope(text, envelope, { mayAddConfidence: isSender })
      : decidedEvent(text, envelope);
  attempt.handoff = answered.handoff;
  return answered.event;
}

async function askPerson(
  attempt: Attempt,
  { reason, evidence }: HandoffNext & { do: "ask_human" },
): Promise<HandoffEvent | undefined> {
  const { durable, worked, handoff } = attempt;
  const key = attempt.key("person");
  const isDone = worked !== undefined && worked.failure === null;
  const verdict = await askAboutWork(durable, {
    key,
    task: handoff.task_id ?? durable.task,
    reason,
    evidence: [...new Set([...evidence, ...observedBy(attempt)])],
    open: openCriteria(attempt),
    claim: isDone ? claimText(worked) : null,
    effort: worked === undefined ? null : effortOf(worked),
    details: {
      handoff: handoff.task_id ?? null,
      branch: worked?.saved?.branch ?? null,
      commit: worked?.saved?.tip ?? null,
    },
  });
  if (verdict === undefined) return undefined;
  const { answer, note, by } = verdict;
  // What a rule or a program answers is nobody's word for the work.
  if (answer === "accept" && by.kind === "person") {
    const fact = { kind: "person", by: by.name, text: note === "" ? "accepted as it is" : note } as const;
    attempt.add(fact, { at: await durable.now(`${key}.at`), source: by.name });
  } else if (answer === "accept") return undefined;
  if (answer === "stop") attempt.endedBy = by.name;
  return { type: "answered", answer, note };
}

/** All that a person needs to decide: the judgement, every check, and what the session claimed and is not there. */
function observedBy(attempt: Attempt): string[] {
  const { worked, evidence, observed } = attempt;
  if (worked === undefined) return [];
  if (worked.failure !== null) return [worked.failure];
  const checks = evidence.flatMap(({ fact, criteria }) =>
    fact.kind === "check" ? [weighFact(fact, { criteria }).reason] : [],
  );
  return [attempt.judge().reason, ...checks, ...(observed?.findings ?? []), ...evidence.flatMap(failedOutput)];
}

/** One that is a command is proven by its check on the work of all tasks. */
function openCriteria(attempt: Attempt): string[] {
  const inWords = attempt.config.criteria.filter((each) => namedCommand(each) === undefined && !isUnreadable(each));
  const open = attempt.judge(inWords).criteria.filter(({ state }) => state !== "met");
  return inWords.filter(({ id }) => open.some((each) => each.id === id)).map(({ text }) => text);
}

/** Undefined when the task was not finished, or when what Tutti observed proves its work. */
function whyUnproven(attempt: Attempt): string | undefined {
  if (attempt.state.phase !== "done") return undefined;
  const { verdict, reason } = attempt.judge();
  return verdict === "verified" ? undefined : reason;
}

/** Returns only when the task has had all its attempts, with a sentence that says so. */
async function tryAgain(
  { durable, state, handoff, config, worked, base, reason }: Attempt,
  next: Work,
): Promise<string> {
  const commit = worked?.saved?.tip ?? config.carried?.commit ?? null;
  const carried: Carried = { state, handoff, work: next, base, commit };
  try {
    return await durable.again("assigned.again", {
      outcome: "failed",
      reason,
      runner: { kind: "assignment", config: { ...config, carried } },
    });
  } catch (thrown) {
    if (!(thrown instanceof TuttiError) || thrown.code !== "refused") throw thrown;
    return `${reason}. The task has had all its attempts.`;
  }
}
