// Who does a delegated task: a person's choice beats the policy, and the policy beats the agent's definition.

import { TuttiError } from "../protocol/error.ts";
import type { RunnerConfig } from "../protocol/invocation/executor.ts";
import { parseRunnerRef } from "../protocol/invocation/runner-ref.ts";
import { parseModelRef } from "../protocol/routing/model-ref.ts";
import type { RouteDecision } from "../protocol/routing/route-handoff.ts";

export interface RouteSources {
  /** The `[runner:]model` that a person chose for this task or for the whole goal. */
  readonly person: string | null;
  /** How the policy routes the handoff. */
  readonly decision: RouteDecision;
  /** Nobody wrote the policy: it was made from the models that are configured, so the agent's definition beats it. */
  readonly isDefaultPolicy: boolean;
  /** The runner that the agent's definition names, perhaps with a model. */
  readonly agent: RunnerConfig | null;
  /** Kinds of runners that the project adds. */
  readonly registered?: readonly string[];
}

export interface ChosenRoute {
  readonly runner: RunnerConfig;
  /** As it was written, without the runner. */
  readonly model: string;
  readonly chosen_by: "person" | "policy" | "agent" | "default";
  readonly reason: string;
  readonly matched_by: string;
  readonly words: readonly string[];
}

export function chooseRoute(sources: RouteSources): ChosenRoute {
  const { person, decision, isDefaultPolicy, agent, registered = [] } = sources;
  const { matched_by, words } = decision;
  if (person !== null) {
    const chosen = readModelRef(person, registered);
    return { ...chosen, chosen_by: "person", reason: "a person chose it", matched_by: "person", words: [] };
  }
  if (isDefaultPolicy && agent !== null) {
    const reason = "the agent's definition names it";
    return { runner: agent, model: modelIn(agent), chosen_by: "agent", reason, matched_by: "agent", words: [] };
  }
  const chosen = readModelRef(decision.model, registered);
  const chosen_by = isDefaultPolicy ? "default" : "policy";
  return { ...chosen, chosen_by, reason: decision.reason, matched_by, words };
}

/** `[runner:]model`, as a policy and a person write it. Throws `invalid_input` when it names no runner for a task. */
export function readModelRef(ref: string, registered: readonly string[] = []): Pick<ChosenRoute, "runner" | "model"> {
  const { runner: kind = "local", model } = parseModelRef(ref.trim(), registered);
  switch (kind) {
    case "local":
      return { runner: { kind, config: { model } }, model };
    case "acp":
      return { runner: parseRunnerRef(ref), model };
    case "operator":
      return { runner: { kind, config: { operator: model } }, model };
    default:
      if (registered.includes(kind)) return { runner: { kind, config: { model } }, model };
      throw new TuttiError("invalid_input", `${ref} names the runner ${kind}, which does not do the task of a model`);
  }
}

function modelIn({ kind, config }: RunnerConfig): string {
  const { profile, model }: { profile?: unknown; model?: unknown } = Object(config);
  const named = [profile, model].filter((part) => typeof part === "string");
  return named.length === 0 ? kind : named.join("/");
}
