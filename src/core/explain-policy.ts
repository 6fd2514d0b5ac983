// Explains to a person where a routing policy sends a task, and why.

import type { Handoff } from "../protocol/routing/handoff.ts";
import type { Policy } from "../protocol/routing/policy.ts";
import { route, type Route } from "../protocol/routing/route-handoff.ts";

/** What a person writes is no handoff: nothing is required of it, and nobody has doubted or checked anything yet. */
const nothing = ["none"];

/** `kind` is the class of the work, such as `code_change`; the words of the task decide when it is absent. */
export function routeTask(
  policy: Policy,
  { task, kind }: { readonly task: string; readonly kind?: string | undefined },
): Route {
  const handoff: Handoff = {
    objective: task,
    ...(kind === undefined ? {} : { scope: kind }),
    acceptance_criteria: nothing,
    assumptions_made: nothing,
    open_questions: nothing,
    failed_checks: nothing,
  };
  return route({ ...policy, gate: { ...policy.gate, require_fields: [] } }, handoff);
}

const meanings: Readonly<Record<string, string>> = {
  conf: "the author of the task is less sure of it than the policy wants",
  risk: "words of it speak of a risk",
  contradiction: "a failed check speaks of a contradiction",
  ambiguity: "words of it say that it is unclear",
  destination: "it names a model of the policy, and its words are known",
  scope: "words of it say what kind of work it is",
  default: "none of its words is known, so the router decides",
};

/** What `matched_by` of a decision means, in words. */
export function meaningOf(matchedBy: string): string {
  const [, rule] = /^rule:(\d+)$/.exec(matchedBy) ?? [];
  if (rule !== undefined) return `rule ${Number(rule) + 1} of decision_rules matches`;
  return meanings[matchedBy] ?? matchedBy;
}
