// Makes the invocation that runs one agent: one target, and the definitions of all agents it may call or hand over to.

import type { AgentDefinition, InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import type { Effort } from "../../protocol/invocation/call-settings.ts";
import { named, single } from "../../protocol/invocation/invocation-builders.ts";
import type { RunnerConfig } from "../../protocol/invocation/executor.ts";
import { forcedTo } from "../../protocol/invocation/runner-ref.ts";
import { reachableAgents } from "./reachable-agents.ts";
import type { RehearsalScript } from "../../protocol/invocation/rehearsal-script.ts";

export interface AgentRun {
  readonly agent: string;
  readonly prompt: string;
  /** The folder the agent works in. */
  readonly folder: string;
  /** The model of the agent itself; goes before the one in its definition. */
  readonly model?: string | undefined;
  /** The effort of the agent itself; goes before the one in its definition. */
  readonly effort?: Effort | undefined;
  /** The model of every agent whose definition names none. */
  readonly defaultModel?: string | undefined;
  /** Turns the name of a model in a definition into `provider/model`. */
  readonly resolve: (model: string) => string;
  readonly script?: RehearsalScript | undefined;
  /** Runs the agent, whatever its definition says. */
  readonly runner?: RunnerConfig | undefined;
}

/** The agent must be one of `agents`. The same run of the same definitions gives an equal value, so it can be found again. */
export function agentRun(agents: ReadonlyMap<string, AgentDefinition>, run: AgentRun): InvocationFile {
  const lookup = { find: (name: string) => agents.get(name), callableBy: () => agents.keys() };
  const definitions = reachableAgents(lookup, [run.agent]).map((name): [string, AgentDefinition] => {
    const definition = agents.get(name) ?? { instructions: "" };
    const isAsked = name === run.agent;
    const model = (isAsked ? run.model : undefined) ?? definition.model;
    const effort = (isAsked ? run.effort : undefined) ?? definition.effort;
    const next = definition.fallback_models?.map((each) => run.resolve(each));
    const ofModel = {
      ...(model === undefined ? {} : { model: run.resolve(model) }),
      ...(next === undefined ? {} : { fallback_models: next }),
    };
    return [name, { ...definition, ...ofModel, ...(effort === undefined ? {} : { effort }) }];
  });
  const model = run.model ?? run.defaultModel;
  const budget = agents.get(run.agent)?.budget;
  return {
    invocation: single(named(run.agent, run.prompt), forcedTo(run.runner)),
    agents: Object.fromEntries(definitions),
    ...(model === undefined ? {} : { model: run.resolve(model) }),
    ...(run.script === undefined ? {} : { script: run.script }),
    external_tools: [],
    roots: [run.folder],
    // The agent is the only target, so its limits hold for the whole tree.
    ...(budget === undefined ? {} : { budget }),
  };
}
