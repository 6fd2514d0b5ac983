// Finds the agents that an invocation names and does not define itself: those of the project and of the user.

import { TuttiError } from "../../protocol/error.ts";
import type { AgentDefinition, InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { baseAgent } from "../delegation/find-agent.ts";
import { reachableAgents } from "../delegation/reachable-agents.ts";
import { type DefinitionFolder, loadDefinitions } from "./agent-folders.ts";
import { missingAgent } from "./missing-agent.ts";

/**
 * The definitions that the invocation's targets and agents reach in the folders, to be recorded with the tree. An agent of
 * the file goes before one of the same name in a folder. An agent of the file that lists no `sub_agents` reaches only what
 * the file names, so that a complete file does not depend on where it is run. Throws when a target has no definition.
 */
export async function storedAgents(
  { invocation, agents }: InvocationFile,
  folders: readonly DefinitionFolder[],
): Promise<Readonly<Record<string, AgentDefinition>>> {
  const inFile = (name: string): boolean => Object.hasOwn(agents, name);
  const targets = invocation.targets.flatMap(({ agent }) => (agent.type === "named" ? [agent.agent_id] : []));
  const named = [...targets, ...Object.values(agents).flatMap((agent) => mentions(agent))];
  if (named.every((name) => inFile(name) || name === baseAgent)) return {};
  const loaded = await loadDefinitions(folders);
  const stored = new Map(loaded.agents.map(({ name, definition }) => [name, definition]));
  const missing = targets.find(
    (name) => name.trim() !== "" && !inFile(name) && name !== baseAgent && !stored.has(name),
  );
  if (missing !== undefined) {
    // An invocation that names an agent which is not there cannot be used, so this is a mistake in the input.
    throw new TuttiError("invalid_input", missingAgent(loaded, missing, Object.keys(agents)).message);
  }
  const lookup = {
    find: (name: string) => (inFile(name) ? agents[name] : stored.get(name)),
    callableBy: (name: string) => (inFile(name) ? [] : stored.keys()),
  };
  const added = reachableAgents(lookup, [...targets, ...Object.keys(agents)]).flatMap((name) => {
    const definition = inFile(name) ? undefined : stored.get(name);
    return definition === undefined ? [] : [[name, definition] as const];
  });
  return Object.fromEntries(added);
}

function mentions({ handover = [], sub_agents = [] }: AgentDefinition): readonly string[] {
  return [...handover, ...sub_agents];
}
