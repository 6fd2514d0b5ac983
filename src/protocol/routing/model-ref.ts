// A model as the policy names it: `[runner:]model`, or `acp:PROFILE[/MODEL]` for a coding agent.

import { knownRunnerKinds } from "../invocation/runner-kinds.ts";
import { isBlank } from "./text.ts";

export interface ModelRef {
  readonly runner?: string;
  readonly model: string;
}

/**
 * Only a known runner counts as one, so a model's own colon (`llama3:8b`) stays part of its name. `registered` are the kinds
 * that a project adds to the built-in ones.
 */
export function parseModelRef(value: string, registered: readonly string[] = []): ModelRef {
  const colon = value.indexOf(":");
  const runner = [...knownRunnerKinds, ...registered].find((kind) => kind === value.slice(0, colon));
  return runner === undefined ? { model: value } : { runner, model: value.slice(colon + 1) };
}

/** An agent that goes on with another model keeps its runner, so a fallback is a model alone. */
export function fallbackProblem(value: string): string | undefined {
  const { runner } = parseModelRef(value);
  return runner === undefined
    ? modelRefProblem(value)
    : `must name a model without a runner, got "${runner}:"; the runner of a task does not change`;
}

/** Says what is wrong with a model named in a policy, if anything. */
export function modelRefProblem(value: string): string | undefined {
  const { runner, model } = parseModelRef(value);
  if (runner === "acp" && !/^[A-Za-z][A-Za-z0-9_-]*(?:\/\S+)?$/.test(model)) {
    return "must name a coding agent as acp:PROFILE or acp:PROFILE/MODEL";
  }
  if (!isBlank(model)) return undefined;
  return runner === undefined ? "must name a model" : `must name a model after "${runner}:"`;
}
