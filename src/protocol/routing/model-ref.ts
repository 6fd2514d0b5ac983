// A model as the policy names it: `[runner:]model`.

import { isBlank } from "./text.ts";

const runners = ["local", "command", "acp", "operator", "a2a"] as const;

export interface ModelRef {
  readonly runner?: (typeof runners)[number];
  readonly model: string;
}

/** Only a known runner counts as one, so a model's own colon (`llama3:8b`) stays part of its name. */
export function parseModelRef(value: string): ModelRef {
  const colon = value.indexOf(":");
  const runner = runners.find((name) => name === value.slice(0, colon));
  return runner === undefined ? { model: value } : { runner, model: value.slice(colon + 1) };
}

/** Says what is wrong with a model named in a policy, if anything. */
export function modelRefProblem(value: string): string | undefined {
  const { runner, model } = parseModelRef(value);
  if (!isBlank(model)) return undefined;
  return runner === undefined ? "must name a model" : `must name a model after "${runner}:"`;
}
