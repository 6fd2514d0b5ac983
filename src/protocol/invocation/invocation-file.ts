// What `tutti invoke` is given: an invocation with the agents it names, a script to rehearse, and the client's tools.

import { z } from "zod";

import { ApprovalPolicy } from "./approval-policy.ts";
import { Budget } from "../task/budget.ts";
import { Invocation, readInvocation } from "./invocation.ts";
import { issuesOf, type ReadIssue } from "../lenient-read.ts";
import { OperatorName } from "../operator/operator-session.ts";
import { RehearsalScript } from "./rehearsal-script.ts";

const said = z.string().refine((text) => text.trim() !== "", "is blank");

export const AgentDefinition = z.strictObject({
  /** What it is good for; told to agents that may call it. */
  description: said.optional(),
  instructions: said,
  /** The tools it is offered; all it has a right to when absent. */
  tools: z.array(said).optional(),
  /** `provider/model`. */
  model: said.optional(),
  /** Runtimes it can run in; anywhere when absent. */
  runtimes: z.array(said).optional(),
  /** What it sees when another agent calls it. */
  context: z.enum(["independent", "inherited"]).optional(),
  /** Agents it may hand its task over to; not empty adds the tool `handover`. */
  handover: z.array(said).optional(),
  /** Agents it may call; all when absent. */
  sub_agents: z.array(said).optional(),
  max_turns: z.int().positive().optional(),
  /** The longest reply it may give, in tokens. */
  max_output_tokens: z.int().positive().optional(),
  /** What its conversation may grow to before old parts are shortened; what the model can take when absent. */
  context_tokens: z.int().positive().optional(),
  /** Limits of a run of its own, and what a call of it takes out of its caller's. */
  budget: Budget.partial().optional(),
  /** JSON Schema its result must satisfy. */
  output_schema: z.record(z.string(), z.unknown()).optional(),
  /** How it calls tools; `auto`, also when absent, goes by the model. */
  format: z.enum(["native", "fenced", "auto"]).optional(),
});
export type AgentDefinition = z.infer<typeof AgentDefinition>;

/** A tool whose calls are carried out by whoever started the tree, and wait for that result. */
export const ExternalTool = z.strictObject({
  name: said,
  description: z.string(),
  /** JSON Schema of the arguments; checked by the client, which knows the tool. */
  parameters: z.record(z.string(), z.unknown()).default(() => ({ type: "object" })),
});
export type ExternalTool = z.infer<typeof ExternalTool>;

/** Operators that have a say in a tree, each a name one joined with or the sid of one. */
export const TreeOperators = z.strictObject({
  /** Must agree before a task starts, and is told how it ended. Nobody there to agree is a refusal. */
  gate: OperatorName.optional(),
  /** Is asked what people are asked; whoever answers first wins. */
  senior: OperatorName.optional(),
});
export type TreeOperators = z.infer<typeof TreeOperators>;

export const InvocationFile = z.strictObject({
  invocation: Invocation,
  agents: z.record(said, AgentDefinition).default(() => ({})),
  /** `provider/model` of agents that name none. */
  model: said.optional(),
  script: RehearsalScript.optional(),
  external_tools: z.array(ExternalTool).default(() => []),
  /** Folders the tree may touch; a relative one is taken from where the file is run. */
  roots: z.array(said).default(() => []),
  budget: Budget.partial().optional(),
  /** What its agents may do without asking; the default policy when absent. */
  approvals: ApprovalPolicy.optional(),
  operators: TreeOperators.optional(),
  /** The folder whose project's config holds: its models, its tools. Where it is run when absent. */
  project: said.optional(),
});
export type InvocationFile = z.infer<typeof InvocationFile>;

export type InvocationFileReading =
  | { readonly ok: true; readonly file: InvocationFile; readonly warnings: readonly ReadIssue[] }
  | { readonly ok: false; readonly issues: readonly ReadIssue[] };

const Envelope = InvocationFile.extend({ invocation: z.unknown() });

/** Unknown fields of the invocation are warnings, of everything around it errors. Never throws. */
export function readInvocationFile(text: string): InvocationFileReading {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    return refuse("", `is not JSON: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
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
  if (twice !== undefined) return refuse("external_tools", `${twice.name} is there twice`);
  return { ok: true, file, warnings: reading.warnings.map(inInvocation) };
}

function inInvocation({ path, message }: ReadIssue): ReadIssue {
  return { path: path === "" ? "invocation" : `invocation.${path}`, message };
}

function refuse(path: string, message: string): InvocationFileReading {
  return { ok: false, issues: [{ path, message }] };
}
