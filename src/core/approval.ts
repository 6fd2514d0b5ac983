// Decides from their effects which calls of a turn run, which a person is asked about, and which are refused.

import { escapeInvisible } from "./escape-invisible.ts";
import type { Answer } from "../protocol/task/ask.ts";
import type { ApprovalPolicy, ApprovalRule, Effect } from "../protocol/invocation/approval-policy.ts";

export interface CallEffect {
  readonly effects: readonly Effect[];
  /** On this machine the call can change nothing outside the task's folders, whatever its arguments are. */
  readonly confined: boolean;
}

export interface JudgedCall {
  readonly tool: string;
  readonly effect: CallEffect;
}

export type Judgement = { readonly verdict: "run" } | { readonly verdict: "ask" | "refuse"; readonly reason: string };

const strictness = { run: 0, ask: 1, refuse: 2 } as const;
const effectVerbs: Record<Effect, string> = {
  read: "reads",
  write: "changes something",
  execute: "runs a program",
  network: "reaches the network",
  protected: "changes a protected file",
};

/** One judgement per call, in their order. The strictest rule for its effects decides about a call. */
export function decideCalls(calls: readonly JudgedCall[], policy: ApprovalPolicy): Judgement[] {
  return calls.map((call) => judge(call, policy));
}

function judge({ tool, effect }: JudgedCall, policy: ApprovalPolicy): Judgement {
  const own = Object.hasOwn(policy.tools, tool) ? policy.tools[tool] : undefined;
  if (own !== undefined) {
    const confined = effect.confined && !effect.effects.includes("network");
    const byTool = judgement(verdictOf(own, { ...effect, confined }), `calls of ${tool}`);
    return stricter(byTool, effect.effects.includes("protected") ? byEffect("protected", effect, policy) : byTool);
  }
  let strictest: Judgement = { verdict: "run" };
  for (const name of effect.effects) {
    strictest = stricter(strictest, byEffect(name, effect, policy));
  }
  return strictest;
}

function byEffect(name: Effect, effect: CallEffect, policy: ApprovalPolicy): Judgement {
  return judgement(verdictOf(policy[name], effect), `a call that ${describeEffect(name, effect)}`);
}

function stricter(one: Judgement, other: Judgement): Judgement {
  return strictness[other.verdict] > strictness[one.verdict] ? other : one;
}

function verdictOf(rule: ApprovalRule, { confined }: CallEffect): Judgement["verdict"] {
  if (rule === "free") return "run";
  if (rule === "confined") return confined ? "run" : "ask";
  return rule;
}

function judgement(verdict: Judgement["verdict"], what: string): Judgement {
  if (verdict === "run") return { verdict };
  const reason = verdict === "ask" ? `the policy asks about ${what}` : `the policy refuses ${what}`;
  return { verdict, reason };
}

function describeEffect(effect: Effect, { confined }: CallEffect): string {
  return confined ? effectVerbs[effect] : `${effectVerbs[effect]} and is not confined to the task's folders`;
}

export type ApprovalOutcome = { readonly approved: true } | { readonly approved: false; readonly reason: string };

/** Only an explicit yes approves; no answer in time and an answer of another kind are denials (invariant 8). */
export function approvalOutcome(waited: { readonly value: Answer } | { readonly expired: true }): ApprovalOutcome {
  if ("expired" in waited) return { approved: false, reason: "nobody approved it in time, which counts as no" };
  const { value } = waited;
  if (value.kind !== "approval") return { approved: false, reason: "the answer was not to an approval" };
  if (value.approved) return { approved: true };
  return { approved: false, reason: value.reason ?? "it was denied" };
}

/** What the person who is asked about a call reads: who wants to call which tool, and below that what exactly will happen. */
export function approvalQuestion(agent: string, { tool, effect }: JudgedCall, happens: string): string {
  const does = effect.effects.map((name) => effectVerbs[name]).join(", ");
  const reach = effect.confined ? "confined to the task's folders" : "not confined to the task's folders";
  const head = `May ${escapeInvisible(agent)} call ${escapeInvisible(tool)}? It ${does === "" ? "has no effect" : does}; ${reach}.`;
  return `${head}\n${happens}`;
}
