// Decides from their effects which calls of a turn run, which a person is asked about, and which are refused.

import { inLine } from "./foreign-words.ts";
import type { Answer } from "../protocol/task/ask.ts";
import {
  type ApprovalRule,
  type ApprovalRules,
  defaultApprovalPolicy,
  type Effect,
} from "../protocol/invocation/approval-policy.ts";

export interface CallEffect {
  readonly effects: readonly Effect[];
  /** On this machine the call can change nothing outside the task's folders, whatever its arguments are. */
  readonly confined: boolean;
}

export interface JudgedCall {
  readonly tool: string;
  readonly effect: CallEffect;
}

/** Rules and the place that gives them. */
export interface ApprovalSource {
  readonly from: "user" | "project" | "invocation" | "agent";
  readonly rules: ApprovalRules;
}

/** The rule that decided about a call: the one for its tool, or the one for one of its effects. */
type DecidingRule = { readonly from: ApprovalSource["from"] | "default" } & (
  | { readonly effect: Effect }
  | { readonly tool: string }
);

export type Judgement =
  | { readonly verdict: "run" }
  | { readonly verdict: "ask" | "refuse"; readonly reason: string; readonly rule: DecidingRule };

const strictness = { run: 0, ask: 1, refuse: 2 } as const;
const owners: Record<DecidingRule["from"], string> = {
  user: "your own config",
  project: "the project's config",
  invocation: "the invocation",
  agent: "the agent's definition",
  default: "the default policy",
};
const effectVerbs: Record<Effect, string> = {
  read: "reads",
  write: "changes something",
  execute: "runs a program",
  network: "reaches the network",
  protected: "changes a protected file",
};

/** One judgement per call, in their order. The strictest of all rules that apply to a call decides about it. */
export function decideCalls(calls: readonly JudgedCall[], sources: readonly ApprovalSource[]): Judgement[] {
  return calls.map((call) => judge(call, sources));
}

function judge(call: JudgedCall, sources: readonly ApprovalSource[]): Judgement {
  let strictest: Judgement = { verdict: "run" };
  for (const { rule, owner } of applyingRules(call, sources)) {
    const found = judgement(call, rule, owner);
    if (strictness[found.verdict] > strictness[strictest.verdict]) strictest = found;
  }
  return strictest;
}

interface ApplyingRule {
  readonly rule: ApprovalRule;
  readonly owner: DecidingRule;
}

/**
 * Within one source, a rule for the tool replaces the rules for its effects, except `protected`. The default rule for an effect applies unless
 * the user or the project has a rule for it: an invocation and an agent can make the rules stricter and never looser,
 * because whoever can send one or write one must not decide what Tutti may do.
 */
function applyingRules({ tool, effect }: JudgedCall, sources: readonly ApprovalSource[]): ApplyingRule[] {
  const applying: ApplyingRule[] = [];
  const covered = new Set<Effect>();
  for (const { from, rules } of sources) {
    const replaces = from === "user" || from === "project";
    const own = rules.tools !== undefined && Object.hasOwn(rules.tools, tool) ? rules.tools[tool] : undefined;
    if (own !== undefined) applying.push({ rule: own, owner: { from, tool } });
    for (const name of effect.effects) {
      const rule = own === undefined || name === "protected" ? rules[name] : undefined;
      if (rule !== undefined) applying.push({ rule, owner: { from, effect: name } });
      if (replaces && (own !== undefined || rule !== undefined)) covered.add(name);
    }
  }
  for (const name of effect.effects) {
    // A rule can refuse changes of protected files, and none can let them happen unasked.
    if (covered.has(name) && name !== "protected") continue;
    applying.push({ rule: defaultApprovalPolicy[name], owner: { from: "default", effect: name } });
  }
  return applying;
}

function verdictOf(rule: ApprovalRule, { confined }: CallEffect): Judgement["verdict"] {
  if (rule === "free") return "run";
  if (rule === "confined") return confined ? "run" : "ask";
  return rule;
}

function judgement({ tool, effect }: JudgedCall, rule: ApprovalRule, owner: DecidingRule): Judgement {
  // A rule for a tool says nothing about the network, which nothing confines.
  const confined = effect.confined && !("tool" in owner && effect.effects.includes("network"));
  const verdict = verdictOf(rule, { ...effect, confined });
  if (verdict === "run") return { verdict };
  const what = "tool" in owner ? `calls of ${tool}` : `a call that ${describeEffect(owner.effect, effect)}`;
  return {
    verdict,
    reason: `${owners[owner.from]} ${verdict === "ask" ? "asks about" : "refuses"} ${what}`,
    rule: owner,
  };
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

/** The tools whose calls are named by what they do, because everybody knows that without knowing the tool. */
const plainRequests: Readonly<Record<string, string>> = {
  run: "run this program",
  write: "write this file",
  write_file: "write this file",
  edit: "change this file",
};

/** Whether the request itself says that the call has this effect. */
function isTold(tool: string, effect: Effect): boolean {
  return Object.hasOwn(plainRequests, tool) && effect === (tool === "run" ? "execute" : "write");
}

/** What the person who is asked about a call reads: who wants to do what, and below that what exactly will happen. */
export function approvalQuestion(agent: string, { tool, effect }: JudgedCall, happens: string): string {
  const wanted = Object.hasOwn(plainRequests, tool) ? plainRequests[tool] : `call ${inLine(tool)}`;
  const untold = effect.effects.filter((name) => !isTold(tool, name)).map((name) => effectVerbs[name]);
  const reach = effect.confined ? "is confined to the task's folders" : "is not confined to the task's folders";
  const head = `May ${inLine(agent)} ${wanted}? It ${[...untold, reach].join(", and ")}.`;
  return `${head}\n${happens}`;
}
