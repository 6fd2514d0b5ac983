// Finds the agent a reference names and puts its instructions together.

import type { AgentDefinition, InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import type { ToolsConfig } from "../../protocol/invocation/tool-policy.ts";
import type { AgentRef } from "../../protocol/invocation/invocation.ts";

/** The agent that is called when a model names none. */
export const baseAgent = "_base";
/** The name of every agent that is made for one call: shown to people, and what `sub_agents` lists to allow such agents. */
export const adHocAgent = "_ad_hoc";

const baseInstructions =
  "You do one task for the agent that called you. Do what its message asks, no more. When you are done, call the tool " +
  "`final` once with what you found or made, then stop. If you cannot do it, say why in `final`.";

export interface FoundAgent {
  readonly id: string;
  /** The base instructions or those of the definition; what the reference adds comes after them and replaces nothing. */
  readonly instructions: string;
  readonly definition: AgentDefinition;
}

/** Undefined when there is no agent of that name. */
export function findAgent(file: InvocationFile, ref: AgentRef): FoundAgent | undefined {
  if (ref.type === "ad_hoc") {
    const instructions = `${baseInstructions}\n\n${ref.system_prompt}`;
    return { id: adHocAgent, instructions, definition: { instructions, ...deliveryOf(ref.tools) } };
  }
  const definition = definitionOf(file, ref.agent_id);
  if (definition === undefined) return undefined;
  const overlay = ref.instructions_overlay ?? "";
  const instructions = overlay === "" ? definition.instructions : `${definition.instructions}\n\n${overlay}`;
  return { id: ref.agent_id, instructions, definition };
}

function deliveryOf(tools: ToolsConfig | undefined): Pick<AgentDefinition, "tool_delivery"> {
  if (tools === undefined) return {};
  const { delivery_mode, deferred_threshold, always_full_schema } = tools;
  return { tool_delivery: { delivery_mode, deferred_threshold, always_full_schema } };
}

function definitionOf(file: InvocationFile, id: string): AgentDefinition | undefined {
  if (Object.hasOwn(file.agents, id)) return file.agents[id];
  return id === baseAgent ? { instructions: baseInstructions } : undefined;
}

/** The names of the agents that `caller` may call; all agents of the file when it does not list any. */
export function callableAgents(file: InvocationFile, caller: AgentDefinition): string[] {
  const all = Object.keys(file.agents);
  return caller.sub_agents === undefined ? all : all.filter((id) => caller.sub_agents?.includes(id));
}
