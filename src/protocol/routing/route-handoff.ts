// Decides which model gets a task, from the policy and the handoff alone, and says why.

import type { Handoff } from "./handoff.ts";
import type { Policy } from "./policy.ts";
import { findProblem, type RouteProblem } from "./required-fields.ts";
import { fallbacksFor } from "./role-fallbacks.ts";
import { parseRule } from "./rule.ts";
import { trimSpace } from "../white-space.ts";
import { asciiLower } from "./text.ts";
import { boundaryWords, substringWords, type WordList, type Words } from "./words.ts";

export interface RouteDecision {
  readonly model: string;
  readonly reason: string;
  /** `scope` also stands for words found in the objective; `rule:<i>` counts the rules of the policy from 0. */
  readonly matched_by:
    | "conf"
    | "risk"
    | "contradiction"
    | "ambiguity"
    | "destination"
    | "scope"
    | `rule:${number}`
    | "default";
  readonly words: readonly string[];
  /** The models to try next, in this order, if the policy has a list for this model. */
  readonly fallback_models?: readonly string[];
}

export type Route =
  | { readonly ok: true; readonly value: RouteDecision }
  | { readonly ok: false; readonly error: RouteProblem };

export function route(policy: Policy, handoff: Handoff): Route {
  const error = findProblem(policy.gate.require_fields, handoff);
  if (error !== undefined) return { ok: false, error };
  const words = policy.words === "boundary" ? boundaryWords : substringWords;
  const decision = escalation(policy, handoff, words) ?? classification(policy, handoff, words);
  return { ok: true, value: policy.fallbacks === undefined ? decision : withFallbacks(policy, decision) };
}

function withFallbacks(policy: Policy, decision: RouteDecision): RouteDecision {
  const role = isEscalation(decision) ? "escalate_to" : decision.matched_by === "default" ? "router" : undefined;
  const fallback_models = fallbacksFor(policy, trimSpace(decision.model), role);
  return fallback_models === undefined ? decision : { ...decision, fallback_models };
}

/** The confidence that is required. A handoff may raise it, but not lower it. */
export function effectiveThreshold({ policy, gate }: Policy, handoff: Handoff): number {
  return Math.max(gate.fail_if_conf_less, policy.conf_threshold, handoff.confidence_threshold ?? policy.conf_threshold);
}

/** Whether the task goes to `escalate_to` because of a doubt or a risk, whatever it is about. */
export function isEscalation({ matched_by }: RouteDecision): boolean {
  return matched_by === "conf" || matched_by === "risk" || matched_by === "contradiction" || matched_by === "ambiguity";
}

function escalation(policy: Policy, handoff: Handoff, words: Words): RouteDecision | undefined {
  const model = policy.policy.escalate_to;
  // A confidence the policy does not require counts as full.
  if ((handoff.conf ?? 1) < effectiveThreshold(policy, handoff)) {
    return { model, reason: "confidence below configured threshold", matched_by: "conf", words: [] };
  }
  const reason = "risk/contradiction or ambiguous classification requires router";
  const { between } = words;
  const task = (handoff.scope ?? "") + between + (handoff.objective ?? "");
  const triggers = handoff.fallback_triggers?.join(between) ?? "";

  const risky = task + between + (handoff.risks?.join(between) ?? "") + between + triggers;
  const risk = words.risk.find(risky) ?? findInAny(words.riskInRefs, handoff.artifact_refs);
  if (risk !== undefined) return { model, reason, matched_by: "risk", words: risk };

  const contradiction = findInAny(words.contradiction, handoff.failed_checks);
  if (contradiction !== undefined) return { model, reason, matched_by: "contradiction", words: contradiction };

  const ambiguity = words.ambiguity.find(task + between + triggers);
  if (ambiguity !== undefined) return { model, reason, matched_by: "ambiguity", words: ambiguity };
  return undefined;
}

function findInAny(list: WordList, texts: readonly string[] | undefined): string[] | undefined {
  if (texts === undefined) return undefined;
  for (const text of texts) {
    const found = list.find(text);
    if (found !== undefined) return found;
  }
  return undefined;
}

function classification(policy: Policy, handoff: Handoff, words: Words): RouteDecision {
  // None of these words can span both fields, so searching them as one text finds the same words.
  const task = (handoff.scope ?? "") + words.between + (handoff.objective ?? "");
  let role: keyof typeof reasonOfRole = "router";
  let found = words.router.find(task);
  if (found === undefined) {
    role = "info";
    found = words.info.find(task);
  }
  if (found === undefined) {
    role = "build";
    found = words.build.find(task);
  }
  if (found === undefined) return byRule(policy, handoff, words);
  const destination = allowedDestination(policy, handoff.to_model);
  if (destination !== undefined) {
    return { model: destination, reason: "handoff destination honored", matched_by: "destination", words: found };
  }
  const model = policy.policy[role];
  const reason = policy.words === "boundary" ? reasonOfRole[role] : reasonFor(model, policy, handoff);
  return { model, reason, matched_by: "scope", words: found };
}

const reasonOfRole = {
  info: "matched information-gathering scope",
  build: "matched implementation/debugging scope",
  router: "matched architectural/decision scope",
} as const;

/** The destination as written, with the blanks around it, unless the policy matches whole words. */
function allowedDestination({ policy, words }: Policy, to: string | undefined): string | undefined {
  if (to === undefined) return undefined;
  const { router, info, build, escalate_to } = policy;
  const name = trimSpace(to);
  const allowed = name === router || name === info || name === build || name === escalate_to;
  if (!allowed) return undefined;
  return words === "boundary" ? name : to;
}

function byRule(policy: Policy, handoff: Handoff, words: Words): RouteDecision {
  // Once for all rules, of which there may be many.
  const scope = asciiLower(handoff.scope ?? "");
  const { objective = "", constraints = [], artifact_refs = [], context } = handoff;
  const others = [objective, ...constraints, ...artifact_refs, ...(context?.refs ?? [])].map(asciiLower);
  for (const [index, raw] of policy.routing.decision_rules.entries()) {
    const rule = parseRule(raw);
    if (rule === undefined) continue;
    const { left, model } = rule;
    const beforeArrow = left.split("->", 1)[0] ?? "";
    const inScope = words.matcher(policy.words === "boundary" ? trimSpace(beforeArrow) : beforeArrow);
    const inOther = words.matcher(left);
    if (inScope(scope) || others.some(inOther)) {
      return { model, reason: reasonFor(model, policy, handoff), matched_by: `rule:${index}`, words: [left] };
    }
  }
  const { router } = policy.policy;
  const reason = policy.words === "boundary" ? "no word and no rule matched" : reasonFor(router, policy, handoff);
  return { model: router, reason, matched_by: "default", words: [] };
}

/** The reason depends on the model alone: if two roles share a model, the first of these is given. */
function reasonFor(model: string, { policy }: Policy, handoff: Handoff): string {
  if (model === policy.info) return reasonOfRole.info;
  if (model === policy.build) return reasonOfRole.build;
  if (model === policy.router) return reasonOfRole.router;
  return `matched decision rule ${handoff.scope ?? "unknown"}`;
}
