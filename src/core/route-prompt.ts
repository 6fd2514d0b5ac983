// Decides by a routing policy who does the work of a prompt: a model, or a coding agent in a session of its own.

import { TuttiError } from "../protocol/error.ts";
import type { RunnerConfig } from "../protocol/invocation/executor.ts";
import { parseRunnerRef } from "../protocol/invocation/runner-ref.ts";
import { parseModelRef } from "../protocol/routing/model-ref.ts";
import type { Policy } from "../protocol/routing/policy.ts";
import { parseRule } from "../protocol/routing/rule.ts";
import { route, type RouteDecision } from "../protocol/routing/route-handoff.ts";

export type PromptRoute = { readonly decision: RouteDecision } & (
  | { readonly model: string; readonly runner?: undefined }
  | { readonly runner: RunnerConfig; readonly model?: undefined }
);

/** What a person writes is no handoff: nothing is required of it, and nobody has doubted or checked anything yet. */
const nothing = ["none"];

export function routePrompt(policy: Policy, prompt: string): PromptRoute {
  const open = { ...policy, gate: { ...policy.gate, require_fields: [] } };
  const routed = route(open, {
    objective: prompt,
    acceptance_criteria: nothing,
    assumptions_made: nothing,
    open_questions: nothing,
    failed_checks: nothing,
  });
  if (!routed.ok) throw new TuttiError("invalid_input", routed.error.message);
  const decision = routed.value;
  const { runner, model } = parseModelRef(decision.model);
  if (runner === "acp") return { decision, runner: parseRunnerRef(decision.model) };
  if (runner === undefined || runner === "local") return { decision, model };
  throw new TuttiError(
    "invalid_input",
    `the policy gives this prompt to ${decision.model}; a prompt can go to a model or to acp:PROFILE[/MODEL]`,
  );
}

/** Everything in the policy that names a coding agent, `acp:PROFILE[/MODEL]`, with its place. */
export function sessionRefs({ policy, routing }: Policy): { readonly where: string; readonly ref: string }[] {
  const roles = (["router", "info", "build", "escalate_to"] as const).map((role) => ({
    where: `policy.${role}`,
    ref: policy[role],
  }));
  const rules = routing.decision_rules.flatMap((raw, index) => {
    const rule = parseRule(raw);
    return rule === undefined ? [] : [{ where: `routing.decision_rules[${index}]`, ref: rule.model }];
  });
  return [...roles, ...rules].filter(({ ref }) => parseModelRef(ref).runner === "acp");
}
