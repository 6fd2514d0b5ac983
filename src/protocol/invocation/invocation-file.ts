// The file that `tutti invoke` reads: an invocation with the agents it names, a script to rehearse, and the client's tools.

import { z } from "zod";

import { ApprovalRules } from "./approval-policy.ts";
import { callSettings, FallbackModels } from "./call-settings.ts";
import { Budget } from "../task/budget.ts";
import { Invocation, readInvocation } from "./invocation.ts";
import { issuesOf, type ReadIssue } from "../lenient-read.ts";
import { AttendedModel, AttendedTool } from "./attended.ts";
import { AgentServers } from "./mcp-servers.ts";
import { NodeLabelList } from "./node-label.ts";
import { NonBlank } from "../non-blank.ts";
import { OperatorName } from "../operator/operator-name.ts";
import { Profile } from "../toolcalls/dialect.ts";
import { ThreadRef } from "./thread-ref.ts";
import { ToolDelivery } from "./tool-policy.ts";
import { RehearsalScript } from "./rehearsal-script.ts";
import { readWrittenJson } from "../json/written-json.ts";

/** What an agent can be told about where it works: `notes` are those of the project, such as its AGENTS.md. */
export const Surrounding = z.enum(["folder", "date", "platform", "git", "notes"]);
export type Surrounding = z.infer<typeof Surrounding>;

/** A runner as a definition names it. Unknown fields are refused, since a misplaced one belongs into the config. */
export const AgentRunner = z.strictObject({ kind: NonBlank, config: z.unknown().default(() => ({})) });
export type AgentRunner = z.infer<typeof AgentRunner>;

export const AgentDefinition = z.strictObject({
  /** What it is good for; told to agents that may call it. */
  description: NonBlank.optional(),
  instructions: NonBlank,
  /** The tools it is offered; all that it may use when absent. */
  tools: z.array(NonBlank).optional(),
  /** The MCP servers whose tools it has; those of the project when absent. A server that it brings itself needs a person's yes. */
  mcp_servers: AgentServers.optional(),
  /** How its tools are shown to its model; all of them whole when absent. */
  tool_delivery: ToolDelivery.optional(),
  /** `provider/model`. */
  model: NonBlank.optional(),
  /** Models to try, in this order, when its model refuses or cannot be reached; those of the config when absent. */
  fallback_models: FallbackModels.optional(),
  /** How its model is called; what the model's settings say when absent. */
  ...callSettings,
  /** Runtimes it can run in; anywhere when absent. */
  runtimes: z.array(NonBlank).optional(),
  /** The runner of its tasks, with the config that this runner reads; used unless the caller forces another executor. */
  runner: AgentRunner.optional(),
  /** Its runner comes from a file of the project, so a person is asked before it starts. */
  from_project: z.literal(true).optional(),
  /** What it sees when another agent calls it. */
  context: z.enum(["independent", "inherited"]).optional(),
  /** Agents it may hand its task over to. If there are any, it has the tool `handover`. */
  handover: z.array(NonBlank).optional(),
  /** Agents it may call; all when absent. */
  sub_agents: z.array(NonBlank).optional(),
  max_turns: z.int().positive().optional(),
  /** The longest reply it may give, in tokens. */
  max_output_tokens: z.int().positive().optional(),
  /** How long its conversation may grow before old parts are shortened; the limit of the model when absent. */
  context_tokens: z.int().positive().optional(),
  /** The limits of a task of this agent. When another agent calls it, they are taken out of the caller's budget. */
  budget: Budget.partial().optional(),
  /** JSON Schema its result must satisfy. */
  output_schema: z.record(z.string(), z.unknown()).optional(),
  /** How it calls tools; `auto`, the default, depends on the model. */
  format: z.enum(["native", "fenced", "auto"]).optional(),
  /** How much drift is accepted in calls that it writes as text; what the model's settings say when absent. */
  profile: Profile.optional(),
  /** Rules for its calls beside those of the configs and the invocation; the strictest rule decides. */
  approvals: ApprovalRules.optional(),
  /** What it is told about where it works, if it may touch a folder; everything when absent. */
  surroundings: z.array(Surrounding).optional(),
});
export type AgentDefinition = z.infer<typeof AgentDefinition>;

/** A tool that the client carries out itself; a call waits until the client gives the result. */
export const ExternalTool = z.strictObject({
  name: NonBlank,
  description: z.string(),
  /** JSON Schema of the arguments; the client checks them. */
  parameters: z.record(z.string(), z.unknown()).default(() => ({ type: "object" })),
  /** Its calls are made by a process that attends the run, and never by two. When absent, whoever gives a result first has made them. */
  attended: AttendedTool.optional(),
});
export type ExternalTool = z.infer<typeof ExternalTool>;

/** The operators of a tree, each by a name it joined with or by its sid. */
export const TreeOperators = z.strictObject({
  /** Must agree before a task starts, and is told how it ended. Without its agreement the task is refused. */
  gate: OperatorName.optional(),
  /** Is asked the same questions as people; the first answer counts. */
  senior: OperatorName.optional(),
});
export type TreeOperators = z.infer<typeof TreeOperators>;

export const InvocationFile = z.strictObject({
  invocation: Invocation,
  agents: z.record(NonBlank, AgentDefinition).default(() => ({})),
  /** `provider/model` of agents that name none. */
  model: NonBlank.optional(),
  /** Of agents that list none themselves. */
  fallback_models: FallbackModels.optional(),
  /** How the models of agents are called that do not set it themselves. */
  ...callSettings,
  script: RehearsalScript.optional(),
  external_tools: z.array(ExternalTool).default(() => []),
  /** Models that a process calls which attends the run, by the names that agents have them by. They go before those of the config. */
  attended_models: z.record(NonBlank, AttendedModel).optional(),
  /** Folders the tree may touch; a relative path starts at the folder where the file is run. */
  roots: z.array(NonBlank).default(() => []),
  budget: Budget.partial().optional(),
  /** Rules for its agents beside those of the configs; the strictest rule decides. */
  approvals: ApprovalRules.optional(),
  operators: TreeOperators.optional(),
  /** The thread that it is said into, by its name in the project or by its id; a new name begins a thread. */
  thread: ThreadRef.optional(),
  /** The folder of the project whose config applies, with its models and tools; where the file is run when absent. */
  project: NonBlank.optional(),
  /** What the node must have that runs it, where there are several. */
  labels: NodeLabelList.optional(),
});
export type InvocationFile = z.infer<typeof InvocationFile>;

export type InvocationFileReading =
  | { readonly ok: true; readonly file: InvocationFile; readonly warnings: readonly ReadIssue[] }
  | { readonly ok: false; readonly issues: readonly ReadIssue[] };

const Envelope = InvocationFile.extend({ invocation: z.unknown() });

/** A body that is the invocation itself, without the fields that a file has around it. */
function isBare(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && "targets" in value && !("invocation" in value);
}

function readBare(value: Record<string, unknown>): InvocationFileReading {
  const around = Object.keys(Envelope.shape).filter((field) => Object.hasOwn(value, field));
  if (around.length > 0) {
    const message = `belongs beside the invocation; put the invocation itself under the field \`invocation\``;
    return { ok: false, issues: around.map((path) => ({ path, message })) };
  }
  const reading = readInvocation(value);
  if (!reading.ok) return reading;
  return { ok: true, file: InvocationFile.parse({ invocation: reading.invocation }), warnings: reading.warnings };
}

/**
 * Reads a file, or an invocation by itself. Unknown fields are warnings inside the invocation and errors elsewhere. Never
 * throws.
 */
export function readInvocationFile(text: string): InvocationFileReading {
  const read = readWrittenJson(text);
  if (!read.ok) return refuse("", read.problem);
  const { value } = read;
  if (isBare(value)) return readBare(value);
  const envelope = Envelope.safeParse(value);
  const around = envelope.success ? [] : issuesOf(envelope.error);
  const given = typeof value === "object" && value !== null && "invocation" in value ? value.invocation : undefined;
  if (given === undefined) return { ok: false, issues: [...around, { path: "invocation", message: "is missing" }] };
  const reading = readInvocation(given);
  if (!reading.ok) return { ok: false, issues: [...around, ...reading.issues.map(inInvocation)] };
  if (!envelope.success) return { ok: false, issues: around };
  const file: InvocationFile = { ...envelope.data, invocation: reading.invocation };
  const twice = file.external_tools.find(({ name }, at) =>
    file.external_tools.some((tool, i) => i < at && tool.name === name),
  );
  if (twice !== undefined) return refuse("external_tools", `${twice.name} is listed twice`);
  return { ok: true, file, warnings: reading.warnings.map(inInvocation) };
}

function inInvocation({ path, message }: ReadIssue): ReadIssue {
  return { path: path === "" ? "invocation" : `invocation.${path}`, message };
}

function refuse(path: string, message: string): InvocationFileReading {
  return { ok: false, issues: [{ path, message }] };
}
