// The tools one agent has in one run: what the model is shown, and which of its calls may be carried out.

import { mayUse, type Rights } from "../../core/rights.ts";
import type { AttendedTool } from "../../protocol/invocation/attended.ts";
import type { ToolDelivery } from "../../protocol/invocation/tool-policy.ts";
import type { AgentDefinition, InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import type { ModelTool } from "../../model-port.ts";
import type { AgentEnvironment } from "../agent-environment.ts";
import type { OfferedTools } from "../delegation/task-input.ts";
import { deliverTools, toolSearch } from "./deferred-tools.ts";
import { loopTool, type LoopToolName, loopTools, toolSearchName } from "./loop-tools.ts";
import type { DurableTool, StepTool, Tool } from "./tool.ts";

/** How many tools are shown whole. */
const defaultThreshold = 15;

/** What a name stands for: a tool, a tool of the client, or something the loop does itself. */
type NamedTool =
  | { readonly kind: "step"; readonly tool: StepTool }
  | { readonly kind: "durable"; readonly tool: DurableTool }
  /** `attended`: a process of the program makes its calls. */
  | { readonly kind: "external"; readonly attended: AttendedTool | undefined }
  | { readonly kind: LoopToolName };

type ToolLookup = NamedTool | { readonly kind: "unknown" | "refused"; readonly message: string };

export interface Toolbox {
  /** The tools that the model sees in full from the beginning. */
  readonly declarations: readonly ModelTool[];
  /** The tools that it sees in full once it has found them. */
  readonly deferred: readonly ModelTool[];
  find(name: string): ToolLookup;
  /** Whether the tool waits for something outside, so that calling it again does not mean the model is stuck. */
  waits(name: string): boolean;
}

export interface ToolboxOptions {
  readonly file: InvocationFile;
  readonly environment: AgentEnvironment;
  readonly definition: AgentDefinition;
  readonly rights: Rights;
  readonly offeredTools: OfferedTools;
}

export function makeToolbox({ file, environment, definition, rights, offeredTools }: ToolboxOptions): Toolbox {
  const servers = new Map(
    environment.tools.flatMap(({ name, server }) => (server === undefined ? [] : [[name, server]])),
  );
  const all = new Map<string, { readonly named: NamedTool; readonly declaration: () => ModelTool }>();
  for (const tool of environment.tools) {
    all.set(tool.name, { named: namedTool(tool), declaration: () => tool.declaration });
  }
  for (const tool of file.external_tools) {
    const { name, description, parameters, attended } = tool;
    all.set(name, { named: { kind: "external", attended }, declaration: () => ({ name, description, parameters }) });
  }
  for (const tool of loopTools(file, definition)) {
    all.set(tool.name, { named: { kind: tool.name }, declaration: () => tool });
  }
  const isOffered = (name: string): boolean => {
    if (name === loopTool.final) return true;
    const server = servers.get(name);
    if (server !== undefined && !hasServer(server, definition, offeredTools !== "*" && offeredTools.includes(name)))
      return false;
    // An agent that lists agents to hand over to has the tool without listing it.
    if (name === loopTool.handover) return (definition.handover ?? []).length > 0 && mayUse(rights, name);
    return mayUse(rights, name) && (offeredTools === "*" || offeredTools.includes(name));
  };
  const listed = [...all.keys()].filter((name) => isOffered(name) && !isHiddenAlias(name, offeredTools));
  const declared = listed.flatMap((name) => all.get(name)?.declaration() ?? []);
  const delivery = definition.tool_delivery ?? serverDelivery(declared, servers);
  const { full, deferred } = deliverTools(declared, delivery);
  const search = deferred.length === 0 ? undefined : toolSearch(deferred, delivery?.delivery_mode ?? "full");
  return {
    declarations: search === undefined ? full : [...full, search.declaration],
    deferred,
    find(name) {
      if (search !== undefined && name === toolSearchName) return { kind: "step", tool: search };
      const entry = all.get(name);
      if (entry === undefined)
        return { kind: "unknown", message: `there is no tool ${name}; there are: ${listed.join(", ")}` };
      if (!isOffered(name))
        return { kind: "refused", message: `you may not use ${name}; there are: ${listed.join(", ")}` };
      return entry.named;
    },
    waits(name) {
      const named = all.get(name)?.named;
      return named?.kind === "durable" && named.tool.waits;
    },
  };
}

/** An agent that names servers has theirs and no others; a server that an agent brings is no other agent's. */
function hasServer(
  { name, onlyNamed }: NonNullable<Tool["server"]>,
  { mcp_servers }: AgentDefinition,
  isListed: boolean,
): boolean {
  if (mcp_servers !== undefined) return Object.hasOwn(mcp_servers, name);
  return isListed || !onlyNamed;
}

/** Servers bring many tools: past the usual number, those of servers are searched for, and the agent's other tools are not. */
function serverDelivery(
  declared: readonly ModelTool[],
  servers: ReadonlyMap<string, unknown>,
): ToolDelivery | undefined {
  if (!declared.some(({ name }) => servers.has(name))) return undefined;
  const always_full_schema = declared.flatMap(({ name }) => (servers.has(name) ? [] : [name]));
  return { delivery_mode: "deferred", deferred_threshold: defaultThreshold, always_full_schema };
}

/** `write_file` is another name of `write`: an agent that has both may call either, and is shown only `write`. */
function isHiddenAlias(name: string, offeredTools: OfferedTools): boolean {
  return name === "write_file" && (offeredTools === "*" || offeredTools.includes("write"));
}

function namedTool(tool: Tool): NamedTool {
  return tool.kind === "step" ? { kind: "step", tool } : { kind: "durable", tool };
}
