// Decides by a routing policy who does the work of a prompt: a model, or a coding agent in a session of its own.

import { TuttiError } from "../protocol/error.ts";
import type { RunnerConfig } from "../protocol/invocation/executor.ts";
import { parseRunnerRef } from "../protocol/invocation/runner-ref.ts";
import { parseModelRef } from "../protocol/routing/model-ref.ts";
import type { Policy } from "../protocol/routing/policy.ts";
import { modelsNamedIn, type NamedModel } from "../protocol/routing/policy-places.ts";
import type { RouteDecision } from "../protocol/routing/route-handoff.ts";
import { routeTask } from "./explain-policy.ts";

export type PromptRoute = { readonly decision: RouteDecision } & (
  | { readonly model: string; readonly runner?: undefined }
  | { readonly runner: RunnerConfig; readonly model?: undefined }
);

export function routePrompt(policy: Policy, prompt: string): PromptRoute {
  const routed = routeTask(policy, { task: prompt });
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
export function sessionRefs(policy: Policy): NamedModel[] {
  return modelsNamedIn(policy).filter(({ model }) => parseModelRef(model).runner === "acp");
}
