// Which agents a tree can come to: those it starts with, those that these may call or hand over to, and so on.

import type { AgentDefinition } from "../../protocol/invocation/invocation-file.ts";
import { loopTool } from "../tools/loop-tools.ts";

export interface AgentLookup {
  /** Undefined when there is no agent of that name. */
  readonly find: (name: string) => AgentDefinition | undefined;
  /** The agents that the agent of this name may call when its definition lists none. */
  readonly callableBy: (name: string) => Iterable<string>;
}

/** Sorted by name. Names without an agent are left out. */
export function reachableAgents({ find, callableBy }: AgentLookup, from: Iterable<string>): string[] {
  const found = new Set<string>();
  const pending = [...from];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    const definition = find(name);
    if (definition === undefined || found.has(name)) continue;
    found.add(name);
    const callsAgents = definition.tools === undefined || definition.tools.includes(loopTool.invokeAgent);
    pending.push(...(definition.handover ?? []), ...(callsAgents ? (definition.sub_agents ?? callableBy(name)) : []));
  }
  return [...found].toSorted();
}
