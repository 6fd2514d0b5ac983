// Finds the agent a reference names and puts its instructions together.

import type { AgentDefinition, InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import type { AgentRef } from "../../protocol/invocation/invocation.ts";

/** Called when a model names no agent. */
export const baseAgent = "_base";
/** The name an agent made for one call is shown under, and under which an allow list may permit it. */
export const adHocAgent = "_ad_hoc";

const baseInstructions =
  "You do one task for the agent that called you. Do what its message asks, no more. When you are done, call the tool " +
  "`final` once with what you found or made, then stop. If you cannot do it, say why in `final`.";

export interface FoundAgent {
  readonly id: string;
  /** The base instructions, or the definition's, with what the reference adds below; nothing is ever replaced. */
  readonly instructions: string;
  readonly definition: AgentDefinition;
}

/** Undefined when there is no agent of that name. */
export function findAgent(file: InvocationFile, ref: AgentRef): FoundAgent | undefined {
  if (ref.type === "ad_hoc") {
    const instructions = `${baseInstructions}\n\n${ref.system_prompt}`;
    return { id: adHocAgent, instructions, definition: { instructions } };
  }
  const definition = definitionOf(file, ref.agent_id);
  if (definition === undefined) return undefined;
  const overlay = ref.instructions_overlay ?? "";
  const instructions = overlay === "" ? definition.instructions : `${definition.instructions}\n\n${overlay}`;
  return { id: ref.agent_id, instructions, definition };
}

function definitionOf(file: InvocationFile, id: string): AgentDefinition | undefined {
  if (Object.hasOwn(file.agents, id)) return file.agents[id];
  return id === baseAgent ? { instructions: baseInstructions } : undefined;
}

/** The agents `caller` may call, of those there are; an absent list is all of them. */
export function callable(file: InvocationFile, caller: AgentDefinition): string[] {
  const all = Object.keys(file.agents);
  return caller.sub_agents === undefined ? all : all.filter((id) => caller.sub_agents?.includes(id));
}
