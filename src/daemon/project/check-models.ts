// The doctor's check of models: whether there is one to call, and whether the model of every agent can be called.

import type { LoadedDefinitions } from "../../agent/definition/agent-folders.ts";
import type { Finding } from "../../host/project.ts";
import type { ModelsConfig } from "../../model/models-config.ts";
import { requireKey, resolveModel } from "../../model/resolve-model.ts";
import { toTuttiError } from "../../protocol/error.ts";
import type { KeySources } from "../secrets/provider-keys.ts";
import { modelNames } from "./project-models.ts";

/** No finding without a config: that it cannot be loaded is a finding of its own. */
export async function checkModels(
  config: ModelsConfig | undefined,
  keys: KeySources,
  { agents }: LoadedDefinitions,
): Promise<Finding[]> {
  if (config === undefined) return [];
  const what = "models";
  let names;
  try {
    names = modelNames(config, keys);
  } catch (thrown) {
    return [{ what, state: "warn", said: toTuttiError(thrown).message, todo: "correct `models` in the config" }];
  }
  const { fallback, resolve } = names;
  /** Why the model cannot be called; undefined when it can. */
  const problemOf = (name: string): string | undefined => {
    try {
      const model = resolve(name);
      if (!model.startsWith("rehearsal/")) requireKey(resolveModel({ config, ...keys }, model).provider);
      return undefined;
    } catch (thrown) {
      return toTuttiError(thrown).message;
    }
  };
  const findings = agents.flatMap(({ name, definition }): Finding[] => {
    const problem = definition.model === undefined ? undefined : problemOf(definition.model);
    if (problem === undefined) return [];
    return [{ what, state: "warn", said: `agent ${name}: ${problem}`, todo: "see `tutti models`" }];
  });
  const problem = problemOf(fallback);
  if (problem !== undefined) {
    return [{ what, state: "warn", said: `the default model ${fallback}: ${problem}` }, ...findings];
  }
  if (!fallback.startsWith("rehearsal/")) return [{ what, state: "ok", said: `default ${fallback}` }, ...findings];
  const todo =
    "keep a key with `tutti models login anthropic` (or openai, google, openrouter), or set a default in tutti.config; see `tutti models`";
  return [{ what, state: "warn", said: "no model is set up, so agents are rehearsed from scripts", todo }, ...findings];
}
