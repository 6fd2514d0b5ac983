// Routes a handoff by a policy and explains the decision: the model, the reason, and what matched.

import type { PolicyDecision, PolicyQuestion } from "../../protocol/api/catalog.ts";
import { TuttiError } from "../../protocol/error.ts";
import { defaultPolicy } from "../../protocol/routing/default-policy.ts";
import { readHandoff } from "../../protocol/routing/read-handoff.ts";
import type { Read } from "../../protocol/routing/read-notes.ts";
import { readPolicy } from "../../protocol/routing/read-policy.ts";
import { route } from "../../protocol/routing/route-handoff.ts";

export function explainRoute({ handoff, policy }: PolicyQuestion): PolicyDecision {
  const warnings: string[] = [];
  const unwrap = <T>(what: string, read: Read<T>): T => {
    warnings.push(...read.warnings.map((warning) => `${what}: ${warning}`));
    if (!read.ok) throw read.error;
    return read.value;
  };
  const rules = policy === undefined ? defaultPolicy : unwrap("policy", readPolicy(policy));
  const routed = route(rules, unwrap("handoff", readHandoff(handoff)));
  if (!routed.ok) throw new TuttiError("invalid_input", routed.error.message, { details: { ...routed.error } });
  return { ...routed.value, words: [...routed.value.words], warnings };
}
