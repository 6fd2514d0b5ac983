// The tools one agent is offered in one run: what the model is shown, and which of its calls may be carried out.

import { z } from "zod";

import { mayUse, type Rights } from "../../core/rights.ts";
import type { AgentDefinition, InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { InvokeAgentInput } from "../../protocol/invocation/invoke-agent.ts";
import type { ModelTool } from "../../ports.ts";
import { callable } from "../delegation/find-agent.ts";
import type { AgentEnvironment } from "../agent-environment.ts";
import type { Offer } from "../delegation/task-input.ts";
import { type DurableTool, parametersOf, type StepTool, type Tool } from "./tool.ts";

export const FinalInput = z.strictObject({ content: z.unknown().describe("The result: text, or structured data.") });

export const HandoverInput = z.strictObject({
  agent: z.string().min(1),
  prompt: z.string().nullish().describe("What the agent is to do; the last thing you were told when absent."),
  reason: z.string().nullish(),
});

/** What a name stands for: a tool, one of the client's, or something the loop itself does. */
type Found =
  | { readonly kind: "step"; readonly tool: StepTool }
  | { readonly kind: "durable"; readonly tool: DurableTool }
  | { readonly kind: "external" | "invoke_agent" | "handover" | "final" };

type Lookup = Found | { readonly kind: "unknown" | "refused"; readonly message: string };

export interface Toolbox {
  readonly shown: readonly ModelTool[];
  find(name: string): Lookup;
  /** Does it wait for something outside, so that calling it again is no sign of a loop? */
  waits(name: string): boolean;
}

export interface ToolboxOwner {
  readonly file: InvocationFile;
  readonly environment: AgentEnvironment;
  readonly definition: AgentDefinition;
  readonly rights: Rights;
  readonly offer: Offer;
}

export function toolboxOf(owner: ToolboxOwner): Toolbox {
  const { file, environment, definition, rights, offer } = owner;
  const all = new Map<string, { readonly found: Found; readonly shown: () => ModelTool }>();
  for (const tool of environment.tools) {
    all.set(tool.name, { found: foundTool(tool), shown: () => tool.shown });
  }
  for (const tool of file.external_tools) all.set(tool.name, { found: { kind: "external" }, shown: () => tool });
  for (const tool of loopTools(owner)) all.set(tool.name, { found: { kind: tool.name }, shown: () => tool });
  const offered = (name: string): boolean => {
    if (name === "final") return true;
    if (name === "handover" && (definition.handover ?? []).length === 0) return false;
    return mayUse(rights, name) && (offer === "*" || offer.includes(name) || name === "handover");
  };
  const usable = [...all.keys()].filter((name) => offered(name) && !isSecondName(name, offer));
  return {
    shown: usable.flatMap((name) => all.get(name)?.shown() ?? []),
    find(name) {
      const entry = all.get(name);
      if (entry === undefined)
        return { kind: "unknown", message: `there is no tool ${name}; there are: ${usable.join(", ")}` };
      if (!offered(name))
        return { kind: "refused", message: `you may not use ${name}; there are: ${usable.join(", ")}` };
      return entry.found;
    },
    waits(name) {
      const found = all.get(name)?.found;
      return found?.kind === "durable" && found.tool.waits;
    },
  };
}

/** `write_file` is `write` under a longer name: it works, but an agent that did not ask for it by name is shown one of them. */
function isSecondName(name: string, offer: Offer): boolean {
  return name === "write_file" && (offer === "*" || offer.includes("write"));
}

function foundTool(tool: Tool): Found {
  return tool.kind === "step" ? { kind: "step", tool } : { kind: "durable", tool };
}

type LoopToolName = "invoke_agent" | "handover" | "final";
const inputs = { invoke_agent: InvokeAgentInput, handover: HandoverInput, final: FinalInput };
const known = new Map<LoopToolName, ModelTool["parameters"]>();

/** Made once and not before it is needed: turning a schema into JSON Schema costs more than a turn of a small task. */
function parametersFor(name: LoopToolName): ModelTool["parameters"] {
  const parameters = known.get(name) ?? parametersOf(inputs[name]);
  known.set(name, parameters);
  return parameters;
}

function loopTools({ file, definition }: ToolboxOwner): (ModelTool & { readonly name: LoopToolName })[] {
  const agents = callable(file, definition);
  const introduced = agents.map((id) => {
    const about = file.agents[id]?.description;
    return about === undefined ? id : `${id} (${about})`;
  });
  const named = agents.length === 0 ? "" : ` Agents you can name: ${introduced.join(", ")}.`;
  const handover = (definition.handover ?? []).join(", ");
  return [
    {
      name: "invoke_agent",
      description: `Has another agent do a task. Several calls in one turn run at once.${named}`,
      parameters: parametersFor("invoke_agent"),
    },
    {
      name: "handover",
      description: `Hands your task over for good to one of: ${handover}. You do not get it back.`,
      parameters: parametersFor("handover"),
    },
    {
      name: "final",
      description: "Ends the task with its result. Call it once, when all is done.",
      parameters: parametersFor("final"),
    },
  ];
}
