// Answers questions about a policy: which model it gives a handoff to, and what a review decides by it.

import { explainReview } from "../../core/explain-review.ts";
import type { PolicyDecision, PolicyQuestion, ReviewDecision, ReviewQuestion } from "../../protocol/api/catalog.ts";
import { TuttiError } from "../../protocol/error.ts";
import { defaultPolicy } from "../../protocol/routing/default-policy.ts";
import type { Handoff } from "../../protocol/routing/handoff.ts";
import { readHandoff } from "../../protocol/routing/read-handoff.ts";
import type { Read } from "../../protocol/routing/read-notes.ts";
import type { Policy } from "../../protocol/routing/policy.ts";
import { readPolicy } from "../../protocol/routing/read-policy.ts";
import { route } from "../../protocol/routing/route-handoff.ts";

export function reviewBy({ review, policy }: ReviewQuestion): ReviewDecision {
  const read = policy === undefined ? undefined : readPolicy(policy);
  if (read?.ok === false) throw read.error;
  const decision = explainReview(review, read?.value);
  return { ...decision, warnings: [...(read?.warnings ?? []), ...decision.warnings] };
}

export function explainRoute({ handoff, policy }: PolicyQuestion): PolicyDecision {
  const warnings: string[] = [];
  const unwrap = <T>(what: string, read: Read<T>): T => {
    warnings.push(...read.warnings.map((warning) => `${what}: ${warning}`));
    if (!read.ok) throw read.error;
    return read.value;
  };
  const rules = policy === undefined ? defaultPolicy : unwrap("policy", readPolicy(policy));
  const read = unwrap("handoff", readHandoff(handoff));
  refuseLongSearch(rules, read);
  const routed = route(rules, read);
  if (!routed.ok) throw new TuttiError("invalid_input", routed.error.message, { details: { ...routed.error } });
  const { fallback_models, ...decision } = routed.value;
  return {
    ...decision,
    words: [...decision.words],
    ...(fallback_models === undefined ? {} : { fallback_models: [...fallback_models] }),
    warnings,
  };
}

/** Characters of all rules times characters of the handoff: about half a second, in which the process does nothing else. */
const longestSearch = 32_000_000;

/** Each rule is looked for in each text. Whoever may only look can ask this, with rules and texts of their own. */
function refuseLongSearch({ routing }: Policy, handoff: Handoff): void {
  const rules = routing.decision_rules.join("").length;
  const texts = JSON.stringify(handoff).length;
  if (rules * texts <= longestSearch) return;
  throw new TuttiError(
    "too_large",
    `${rules} characters of rules are too many for a handoff of ${texts} characters; shorten one of them, or ask \`tutti route\``,
  );
}
