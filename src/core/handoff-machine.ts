// The state machine of handoffs: which model has a task, how often it may be passed on, and what happens next.

import type { Handoff } from "../protocol/routing/handoff.ts";
import type { Policy } from "../protocol/routing/policy.ts";
import type { Review } from "../protocol/routing/review.ts";
import { effectiveThreshold, isEscalation, route, type RouteDecision } from "../protocol/routing/route-handoff.ts";
import { fallbacksFor } from "../protocol/routing/role-fallbacks.ts";
import { trimSpace } from "../protocol/white-space.ts";
import { judgeReview, namesRisk, reviewNeed } from "./review-verdict.ts";

type HandoffPhase =
  /** No envelope yet. */
  | "received"
  /** The envelope cannot be routed; a model was asked to repair it. */
  | "repairing"
  | "working"
  | "verifying"
  | "reviewing"
  /** The router was asked what becomes of the task: a new envelope, giving it up, or a person. */
  | "deciding"
  | "done"
  | "failed"
  | "abandoned"
  | "needs_human";

/** Stored with the task and not in the envelopes, because those are written by the models that the counters limit. */
export interface HandoffState {
  readonly phase: HandoffPhase;
  /** The hash of the last handoff that could be routed. */
  readonly hash: string;
  /** The model whose turn it is. */
  readonly turn?: string;
  /** How that handoff was routed. */
  readonly routed?: {
    readonly decision: RouteDecision;
    readonly threshold: number;
    readonly namesRisk: boolean;
  };
  /** Who did the work that is being verified or reviewed. */
  readonly worker?: string;
  readonly counters: {
    readonly hops: number;
    readonly repairs: number;
    readonly retries: number;
    readonly revisions: number;
    readonly questions: number;
  };
}

export type HandoffEvent =
  | { readonly type: "envelope"; readonly handoff: Handoff; readonly hash: string }
  /** A reply that should have been an envelope or a review and could not be read as one. */
  | { readonly type: "unreadable"; readonly problem: string; readonly hash: string }
  | { readonly type: "worked" }
  | { readonly type: "stuck"; readonly evidence: readonly string[] }
  | {
      readonly type: "verified";
      readonly outcome: "pass" | "none" | "fail";
      readonly evidence: readonly string[];
      /** A check of the person or of the project failed that the task has to make succeed. */
      readonly mustPass?: boolean;
    }
  | { readonly type: "reviewed"; readonly review: Review; readonly hash: string }
  | { readonly type: "escalated"; readonly reason: string }
  | { readonly type: "abandoned"; readonly reason: string }
  /** The task is done by the policy, but nothing that Tutti observed proves it. Only a person's word can. */
  | { readonly type: "unproven"; readonly reason: string }
  /** What the person who was asked decided. */
  | { readonly type: "answered"; readonly answer: "accept" | "retry" | "give_up" | "stop"; readonly note: string };

/** Named like the fields of an agent's definition. */
interface Assignee {
  readonly model: string;
  /** The models to try next, if the policy has a list for this model. */
  readonly fallback_models?: readonly string[];
}

/**
 * What has to happen now. Evidence of a failure is passed here and not in an envelope: the word "mismatch" among the failed
 * checks would count as a contradiction, and the task would go to another model than the one that should fix it.
 */
export type HandoffNext =
  | ({
      readonly do: "work";
      readonly evidence: readonly string[];
      /** Acceptance criteria a review added. */
      readonly criteria: readonly string[];
    } & Assignee)
  | { readonly do: "verify" }
  | ({ readonly do: "review"; readonly missing: readonly "conf"[] } & Assignee)
  | ({ readonly do: "repair"; readonly problem: string; readonly fields: readonly string[] } & Assignee)
  | ({ readonly do: "decide"; readonly reason: string; readonly evidence: readonly string[] } & Assignee)
  | { readonly do: "ask_human"; readonly reason: string; readonly evidence: readonly string[] }
  | { readonly do: "end" }
  | { readonly do: "nothing"; readonly reason: string };

interface HandoffTransition {
  readonly from: HandoffPhase;
  readonly to: HandoffPhase;
  /** The hash of the envelope or review that caused it, else of the last handoff that was routed. */
  readonly hash: string;
  readonly decision: string;
  readonly reason: string;
}

export interface HandoffStep {
  readonly state: HandoffState;
  readonly next: HandoffNext;
  /** Absent if the event changed nothing. */
  readonly transition?: HandoffTransition;
}

/** Each time a model gets the task counts as a hop: to work, to repair an envelope, or to decide. */
export const handoffLimits = { hops: 8, repairs: 1, retries: 1, revisions: 2, questions: 1 };

export const newHandoffState: HandoffState = {
  phase: "received",
  hash: "",
  counters: { hops: 0, repairs: 0, retries: 0, revisions: 0, questions: 0 },
};

/** An event that does not fit the phase, such as a late or repeated one, changes nothing, and the step says so. */
export function advanceHandoff(policy: Policy, state: HandoffState, event: HandoffEvent): HandoffStep {
  const step = withFallbacks(policy, stepFor(policy, state, event));
  if (step.transition === undefined || !("hash" in event)) return step;
  return { ...step, transition: { ...step.transition, hash: event.hash } };
}

function withFallbacks(policy: Policy, step: HandoffStep): HandoffStep {
  const { next, state } = step;
  if (policy.fallbacks === undefined || !("model" in next)) return step;
  const decision = state.routed?.decision;
  const asRouted = next.do === "work" && next.model === decision?.model;
  const fallback_models = asRouted ? decision.fallback_models : fallbacksFor(policy, next.model);
  return fallback_models === undefined ? step : { ...step, next: { ...next, fallback_models } };
}

function stepFor(policy: Policy, state: HandoffState, event: HandoffEvent): HandoffStep {
  const { phase } = state;
  switch (event.type) {
    case "envelope":
      if (takesEnvelopes(phase)) return receive(policy, state, event);
      break;
    case "unreadable":
      if (takesEnvelopes(phase)) return repair(policy, state, { message: event.problem });
      if (phase === "reviewing") return decide(policy, state, { reason: `unreadable review: ${event.problem}` });
      break;
    case "worked":
      if (phase === "working") {
        return move(state, { to: "verifying", decision: "verify", reason: "the work is done", next: { do: "verify" } });
      }
      break;
    case "stuck":
      if (phase === "working")
        return afterFailure(policy, state, { reason: whyStuck(event.evidence), evidence: event.evidence });
      break;
    case "verified":
      if (phase === "verifying") return afterChecks(policy, state, event);
      break;
    case "reviewed":
      if (phase === "reviewing") return afterReview(policy, state, event.review);
      break;
    case "escalated":
      if (phase === "working") return decide(policy, state, { reason: event.reason });
      if (phase === "deciding" || phase === "repairing") return askHuman(state, { reason: event.reason });
      break;
    case "abandoned":
      if (phase === "deciding") return end(state, "abandoned", event.reason);
      break;
    case "unproven":
      if (phase === "done") return askHuman(state, { reason: event.reason });
      break;
    case "answered":
      if (phase === "needs_human") return afterAnswer(policy, state, event);
      break;
  }
  return { state, next: { do: "nothing", reason: `"${event.type}" changes nothing while ${phase}` } };
}

/** A worker may pass its task on, so an envelope is taken from it too. */
function takesEnvelopes(phase: HandoffPhase): boolean {
  return phase === "received" || phase === "repairing" || phase === "deciding" || phase === "working";
}

interface Grounds {
  readonly reason: string;
  readonly evidence?: readonly string[] | undefined;
  readonly mustPass?: boolean | undefined;
}

function receive(policy: Policy, state: HandoffState, event: HandoffEvent & { type: "envelope" }): HandoffStep {
  const { handoff, hash } = event;
  const from = trimSpace(handoff.from_model ?? "");
  const routed = route(policy, handoff);
  if (!routed.ok) return repair(policy, state, { ...routed.error, from });
  const decision = routed.value;
  if (decision.matched_by === "contradiction") {
    const grounds = { reason: `the handoff contradicts itself: ${decision.words.join(", ")}` };
    if (policy.gate.if_conflict_or_missing === "ask") return askHuman(state, grounds);
    if (policy.gate.if_conflict_or_missing === "fail") return end(state, "failed", grounds.reason);
  }
  // The model that decided or worked wrote the envelope, whatever it says; a repaired one counts as the first sender's.
  const author = state.phase === "deciding" || state.phase === "working" ? state.turn : from;
  if (isEscalation(decision) && (from === decision.model || author === decision.model)) {
    return askHuman(state, { reason: `${decision.model} would get its own handoff back: ${decision.reason}` });
  }
  const threshold = effectiveThreshold(policy, handoff);
  return work(
    { ...state, hash, routed: { decision, threshold, namesRisk: namesRisk(handoff) } },
    { model: decision.model, decision: "route", reason: decision.reason },
  );
}

interface Problem {
  readonly message: string;
  readonly fields?: readonly string[];
  readonly from?: string;
}

/** Only the sender knows its confidence, so it is asked for that; the router repairs everything else. */
function repair(policy: Policy, state: HandoffState, { message, fields = [], from = "" }: Problem): HandoffStep {
  const { if_conflict_or_missing: otherwise } = policy.gate;
  if (otherwise === "fail") return end(state, "failed", message);
  if (otherwise === "ask") return askHuman(state, { reason: message });
  if (state.counters.repairs >= handoffLimits.repairs) return end(state, "failed", `still not usable: ${message}`);
  const onlyConfidence = fields.length > 0 && fields.every((field) => field === "conf");
  const model = onlyConfidence && from !== "" ? from : policy.policy.router;
  return hop(increment(state, "repairs"), {
    to: "repairing",
    turn: model,
    decision: "repair",
    reason: message,
    next: { do: "repair", model, problem: message, fields },
  });
}

const longestReason = 300;

function whyStuck([first = ""]: readonly string[]): string {
  const line = first.replaceAll(/\s+/g, " ").trim();
  if (line === "") return "the work failed";
  return `the work failed: ${line.length > longestReason ? `${line.slice(0, longestReason)}…` : line}`;
}

/**
 * The builder gets one more attempt, unless the task was escalated or the router did the work: then the router decides. A
 * check that must pass goes back to whoever did the work first.
 */
function afterFailure(policy: Policy, state: HandoffState, grounds: Grounds): HandoffStep {
  const { router, build } = policy.policy;
  switch (policy.gate.if_test_failure) {
    case "fail":
      return end(state, "failed", grounds.reason);
    case "ask":
      return askHuman(state, grounds);
    case "reroute_to_router":
      return decide(policy, state, grounds);
    case "reroute_to_builder_once_then_router": {
      const escalated = state.routed !== undefined && isEscalation(state.routed.decision);
      // Where one model has both roles, its work is the builder's.
      const byRouter = state.worker === router && router !== build;
      const isBuilders = !escalated && !byRouter;
      const { reason, evidence, mustPass = false } = grounds;
      if (state.counters.retries >= handoffLimits.retries || !(isBuilders || mustPass)) {
        return decide(policy, state, grounds);
      }
      const model = isBuilders ? build : (state.worker ?? build);
      return work(increment(state, "retries"), { reason, evidence, model, decision: "retry" });
    }
  }
}

function afterChecks(policy: Policy, state: HandoffState, event: HandoffEvent & { type: "verified" }): HandoffStep {
  const { outcome, evidence, mustPass } = event;
  if (outcome === "fail") return afterFailure(policy, state, { reason: "verification failed", evidence, mustPass });
  // A task that was checked was routed before; if that is not recorded, it is reviewed to be safe.
  const need =
    state.routed === undefined
      ? { needed: true, reason: "how it was routed is not known" }
      : reviewNeed(policy.review, { ...state.routed, checks: outcome });
  if (!need.needed) return end(state, "done", need.reason);
  const model = reviewer(policy, state.worker);
  return move(
    { ...state, turn: model },
    { to: "reviewing", decision: "review", reason: need.reason, next: { do: "review", model, missing: [] } },
  );
}

/** The router, unless it did the work itself; then another model of the policy, where it names one. */
function reviewer({ policy }: Policy, worker: string | undefined): string {
  const { router, escalate_to, build, info } = policy;
  return [router, escalate_to, build, info].find((model) => model !== worker) ?? router;
}

function afterReview(policy: Policy, state: HandoffState, review: Review): HandoffStep {
  const { verdict, reason } = judgeReview(review, state.routed?.threshold ?? effectiveThreshold(policy, {}));
  const evidence = review.review.findings ?? [];
  switch (verdict) {
    case "approve":
      return end(state, "done", reason);
    case "escalate":
      return decide(policy, state, { reason, evidence });
    case "revise": {
      if (state.counters.revisions >= handoffLimits.revisions || state.worker === undefined) {
        return decide(policy, state, { reason: `${reason}, and there were ${state.counters.revisions}`, evidence });
      }
      const criteria = review.review.required ?? [];
      return work(increment(state, "revisions"), {
        model: state.worker,
        decision: "revise",
        reason,
        evidence,
        criteria,
      });
    }
    case "ask": {
      if (state.counters.questions >= handoffLimits.questions) return decide(policy, state, { reason, evidence });
      const model = state.turn ?? policy.policy.router;
      return move(increment(state, "questions"), {
        to: "reviewing",
        decision: "ask",
        reason,
        next: { do: "review", model, missing: ["conf"] },
      });
    }
  }
}

/** A person who wants another try gives the task its whole allowance again, so that it may fail and be revised as before. */
function afterAnswer(policy: Policy, state: HandoffState, event: HandoffEvent & { type: "answered" }): HandoffStep {
  const { answer, note } = event;
  const said = note === "" ? "" : `: ${note}`;
  if (answer === "accept") return end(state, "done", `a person accepts the work${said}`);
  if (answer === "stop") return end(state, "abandoned", `a person ended the goal${said}`);
  if (answer === "give_up") return end(state, "abandoned", `a person gives the task up${said}`);
  const model = state.worker ?? state.routed?.decision.model ?? policy.policy.build;
  return work(
    { ...state, counters: newHandoffState.counters },
    { model, decision: "retry", reason: `a person wants another try${said}`, criteria: note === "" ? [] : [note] },
  );
}

interface Assignment extends Grounds {
  readonly model: string;
  readonly decision: string;
  readonly criteria?: readonly string[];
}

function work(state: HandoffState, assignment: Assignment): HandoffStep {
  const { model, decision, reason, evidence = [], criteria = [] } = assignment;
  const next = { do: "work", model, evidence, criteria } as const;
  return hop({ ...state, worker: model }, { to: "working", turn: model, decision, reason, next });
}

function decide(policy: Policy, state: HandoffState, { reason, evidence = [] }: Grounds): HandoffStep {
  const model = policy.policy.router;
  const next = { do: "decide", model, reason, evidence } as const;
  return hop(state, { to: "deciding", turn: model, decision: "decide", reason, next });
}

function askHuman(state: HandoffState, { reason, evidence = [] }: Grounds): HandoffStep {
  const next = { do: "ask_human", reason, evidence } as const;
  return move(state, { to: "needs_human", decision: "ask_human", reason, next });
}

function end(state: HandoffState, to: "done" | "failed" | "abandoned", reason: string): HandoffStep {
  return move(state, { to, decision: to, reason, next: { do: "end" } });
}

interface Move {
  readonly to: HandoffPhase;
  readonly decision: string;
  readonly reason: string;
  readonly next: HandoffNext;
}

/** Every transition that gives the task to a model goes through here, so the limit on hops ends every loop. */
function hop(state: HandoffState, { turn, ...onward }: Move & { turn: string }): HandoffStep {
  if (state.counters.hops >= handoffLimits.hops) {
    const evidence = "evidence" in onward.next ? onward.next.evidence : [];
    return askHuman(state, { reason: `after ${state.counters.hops} hops: ${onward.reason}`, evidence });
  }
  return move({ ...increment(state, "hops"), turn }, onward);
}

function move(state: HandoffState, { to, decision, reason, next }: Move): HandoffStep {
  const transition = { from: state.phase, to, hash: state.hash, decision, reason };
  return { state: { ...state, phase: to }, next, transition };
}

function increment(state: HandoffState, counter: keyof HandoffState["counters"]): HandoffState {
  return { ...state, counters: { ...state.counters, [counter]: state.counters[counter] + 1 } };
}
