// Compares the parsers of decisions and tool calls and the router with oracles of their own, case by case, from a seed.
import { isDeepStrictEqual } from "node:util";

import { parseDecision } from "../../src/protocol/decision/parse-decision.ts";
import { readHandoff } from "../../src/protocol/routing/read-handoff.ts";
import { readPolicy } from "../../src/protocol/routing/read-policy.ts";
import { route } from "../../src/protocol/routing/route-handoff.ts";
import { parseToolCalls } from "../../src/protocol/toolcalls/parse-tool-calls.ts";
import { type Chance, chance } from "../support/seeded-random.ts";
import { expectedDecision } from "./decision-oracle.ts";
import { makeDecisionReply, makeHandoff, makePolicy, makeToolReply } from "./make-cases.ts";
import { expectedRoute, type HandoffInput, type PolicyInput } from "./routing-oracle.ts";
import { expectedCalls } from "./tool-call-oracle.ts";

/** A case, what was expected and what came. */
export interface Difference {
  readonly number: number;
  readonly input: unknown;
  readonly expected: unknown;
  readonly actual: unknown;
}

export interface Comparison {
  readonly cases: number;
  /** How many cases had which outcome: a comparison that only met one kind proves little. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly differences: readonly Difference[];
}

interface Judged {
  readonly outcome: string;
  readonly input: unknown;
  readonly expected: unknown;
  readonly actual: unknown;
}

export const comparisons: Readonly<Record<"decisions" | "toolcalls" | "routes", (made: Chance) => Judged>> = {
  decisions: compareDecision,
  toolcalls: compareToolCalls,
  routes: compareRoute,
};

const mostDifferences = 20;

/** Each case begins from a number of its own, so that one case can be made again. */
export function compare(what: keyof typeof comparisons, { cases, seed }: { cases: number; seed: number }): Comparison {
  const outcomes: Record<string, number> = {};
  const differences: Difference[] = [];
  for (let number = 0; number < cases && differences.length < mostDifferences; number += 1) {
    const { outcome, ...judged } = comparisons[what](chance(seed + number * 7919));
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    if (!isDeepStrictEqual(judged.actual, judged.expected)) differences.push({ number, ...judged });
  }
  return { cases, outcomes, differences };
}

function compareToolCalls(made: Chance): Judged {
  const input = makeToolReply(made);
  const expected = expectedCalls(input);
  const { calls, errors, violations, prose } = parseToolCalls(input, { profile: "strict" });
  const actual = { calls, errors: errors.map(({ code }) => code), violations: violations.length, prose };
  const outcome = expected.calls.length > 0 ? "call" : (expected.errors[0] ?? "prose");
  return { outcome, input, expected, actual };
}

/**
 * Decided for Tutti (docs/decisions.md): when no object of a reply is a decision, one action may be found inside it. What it
 * decides stands in the reply, word for word.
 */
function compareDecision(made: Chance): Judged {
  const input = makeDecisionReply(made);
  const { decision: expected, fallback, repeatsKey } = expectedDecision(input);
  const { decision, recovered } = parseDecision(input);
  const actual =
    decision.action === "delegate"
      ? {
          action: "delegate",
          tasks: decision.tasks.map(({ workdir, prompt, model }) => ({ workdir, prompt, model: model ?? null })),
        }
      : decision;
  if (fallback && recovered) return { outcome: "recovered", input, expected: true, actual: saysIt(input, actual) };
  return { outcome: repeatsKey ? "a key twice" : fallback ? "fallback" : expected.action, input, expected, actual };
}

function saysIt(reply: string, decided: Readonly<Record<string, unknown>>): boolean {
  const texts: string[] = [];
  JSON.stringify(decided, (key, value: unknown) => {
    if (typeof value === "string" && key !== "action") texts.push(value);
    return value;
  });
  const { action } = decided;
  return (
    reply.includes(`"${String(action)}"`) &&
    texts.every((text) => reply.includes(text) || reply.includes(JSON.stringify(text).slice(1, -1)))
  );
}

function compareRoute(made: Chance): Judged {
  const policy = makePolicy(made);
  const handoff = makeHandoff(made, policy);
  const written = { policy: policyDocument(policy), handoff: handoffDocument(handoff, made) };
  const [readable, given] = [readPolicy(written.policy), readHandoff(JSON.stringify(written.handoff))];
  const expected = expectedRoute(policy, handoff);
  const outcome = "error" in expected ? expected.error.slice(0, 24) : expected.reason.slice(0, 32);
  if (!readable.ok || !given.ok) return { outcome, input: written, expected, actual: { readable, given } };
  const routed = route(readable.value, given.value);
  const actual = routed.ok
    ? { model: routed.value.model, reason: routed.value.reason }
    : { error: routed.error.message };
  return { outcome, input: written, expected, actual };
}

function policyDocument({ roles, conf_threshold, fail_if_conf_less, rules, require_fields }: PolicyInput): unknown {
  return {
    policy: { ...roles, conf_threshold },
    routing: { decision_rules: rules },
    gate: { require_fields, fail_if_conf_less },
  };
}

const aliases: Readonly<Record<string, readonly string[]>> = {
  task_id: ["id"],
  from_model: ["from", "src"],
  to_model: ["to", "dst"],
  objective: ["obj"],
  artifact_refs: ["refs"],
  conf: ["confidence"],
};

/** Some fields go under another of their names, and some texts in a cell. */
function handoffDocument({ texts, lists, ...rest }: HandoffInput, made: Chance): unknown {
  const fields = Object.entries({ ...texts, ...lists, ...rest }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    fields.map(([name, value]) => {
      const key = made.oneIn(4) ? (made.any(aliases[name] ?? []) ?? name) : name;
      const isCell = ["task_id", "from_model", "to_model"].includes(name) && made.oneIn(4);
      return [key, isCell ? { value } : value];
    }),
  );
}
