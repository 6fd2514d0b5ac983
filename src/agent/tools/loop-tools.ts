// The tools the agent loop carries out itself: to end the task, to hand it over, to call another agent.

import { z } from "zod";

import type { AgentDefinition, InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { InvokeAgentInput } from "../../protocol/invocation/invoke-agent.ts";
import type { ModelTool } from "../../model-port.ts";
import { callableAgents } from "../delegation/find-agent.ts";
import { parametersOf } from "./tool.ts";

export const loopTool = { final: "final", handover: "handover", invokeAgent: "invoke_agent" } as const;
export type LoopToolName = (typeof loopTool)[keyof typeof loopTool];

export const loopToolNames: readonly LoopToolName[] = Object.values(loopTool);

/** The tool that shows deferred tools. */
export const toolSearchName = "tool_search";

/** No other tool may have one of these names. */
export const reservedToolNames: readonly string[] = [...loopToolNames, toolSearchName];

export const FinalInput = z.strictObject({ content: z.unknown().describe("The result: text, or structured data.") });

export const HandoverInput = z.strictObject({
  agent: z.string().min(1),
  prompt: z.string().nullish().describe("What the agent is to do; the last thing you were told when absent."),
  reason: z.string().nullish(),
});

const inputs: Readonly<Record<LoopToolName, z.ZodType>> = {
  final: FinalInput,
  handover: HandoverInput,
  invoke_agent: InvokeAgentInput,
};
const parameters = new Map<LoopToolName, ModelTool["parameters"]>();

/** Made once, and not before it is needed: turning a schema into JSON Schema costs more than a turn of a small task. */
function parametersFor(name: LoopToolName): ModelTool["parameters"] {
  const made = parameters.get(name) ?? parametersOf(inputs[name]);
  parameters.set(name, made);
  return made;
}

/** The loop's tools as a model sees them. Their descriptions name the agents this one may call and hand over to. */
export function loopTools(
  file: InvocationFile,
  definition: AgentDefinition,
): readonly (ModelTool & { readonly name: LoopToolName })[] {
  const agents = callableAgents(file, definition);
  const introduced = agents.map((id) => {
    const about = file.agents[id]?.description;
    return about === undefined ? id : `${id} (${about})`;
  });
  const callable = agents.length === 0 ? "" : ` Agents you can name: ${introduced.join(", ")}.`;
  const receivers = (definition.handover ?? []).join(", ");
  return [
    {
      name: loopTool.invokeAgent,
      description: `Has another agent do a task. Several calls in one turn run at once.${callable}`,
      parameters: parametersFor(loopTool.invokeAgent),
    },
    {
      name: loopTool.handover,
      description: `Hands your task over for good to one of: ${receivers}. You do not get it back.`,
      parameters: parametersFor(loopTool.handover),
    },
    {
      name: loopTool.final,
      description: "Ends the task with its result. Call it once, when all is done.",
      parameters: parametersFor(loopTool.final),
    },
  ];
}
