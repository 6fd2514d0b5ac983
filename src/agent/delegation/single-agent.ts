// A run of one agent as an invocation: one target, with the definitions it can reach as they are now.

import type { AgentDefinition, InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { named, single } from "../../protocol/invocation/invocation-builders.ts";
import type { RehearsalScript } from "../../protocol/invocation/rehearsal-script.ts";

export interface AgentRun {
  readonly agent: string;
  readonly prompt: string;
  /** The folder it works in. */
  readonly folder: string;
  /** Of the agent itself, whatever its definition says. */
  readonly model?: string | undefined;
  /** Of every agent that names none. */
  readonly defaultModel?: string | undefined;
  /** From a name in a definition to `provider/model`. */
  readonly resolve: (model: string) => string;
  readonly script?: RehearsalScript | undefined;
}

/** The agent must be one of `agents`. The same run of the same definitions is the same value. */
export function agentRun(agents: ReadonlyMap<string, AgentDefinition>, run: AgentRun): InvocationFile {
  const reached = reachable(agents, run.agent).map((name): [string, AgentDefinition] => {
    const definition = agents.get(name) ?? { instructions: "" };
    const model = (name === run.agent ? run.model : undefined) ?? definition.model;
    return [name, model === undefined ? definition : { ...definition, model: run.resolve(model) }];
  });
  const model = run.model ?? run.defaultModel;
  const budget = agents.get(run.agent)?.budget;
  return {
    invocation: single(named(run.agent, run.prompt)),
    agents: Object.fromEntries(reached),
    ...(model === undefined ? {} : { model: run.resolve(model) }),
    ...(run.script === undefined ? {} : { script: run.script }),
    external_tools: [],
    roots: [run.folder],
    // The tree is the agent's own, so its limits are the tree's.
    ...(budget === undefined ? {} : { budget }),
  };
}

/** What it may call or hand over to, and what those may, in the order of the names. */
function reachable(agents: ReadonlyMap<string, AgentDefinition>, from: string): string[] {
  const found = new Set<string>();
  const open = [from];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const definition = agents.get(name);
    if (definition === undefined || found.has(name)) continue;
    found.add(name);
    const calls = definition.tools === undefined || definition.tools.includes("invoke_agent");
    open.push(...(definition.handover ?? []), ...(calls ? (definition.sub_agents ?? agents.keys()) : []));
  }
  return [...found].toSorted();
}
