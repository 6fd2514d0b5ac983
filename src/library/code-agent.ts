// An agent that is written in the program itself: its instructions, its model, its tools and the type of its result.

import type { StandardSchema } from "../agent/tools/define-tool.ts";
import type { ModelObject } from "../model/model-object.ts";
import type { ApprovalRules } from "../protocol/invocation/approval-policy.ts";
import type { Effort, ProviderOptions } from "../protocol/invocation/call-settings.ts";
import type { RehearsalScript } from "../protocol/invocation/rehearsal-script.ts";
import type { Budget } from "../protocol/task/budget.ts";
import type { CodeTool } from "./code-tool.ts";
import type { CodeWorkflow } from "./code-workflow.ts";

/** The tools that Tutti brings itself. Those that touch files work in the folders that a run is given. */
export type BuiltinTool =
  | "read"
  | "write"
  | "edit"
  | "list"
  | "search"
  | "read_result"
  | "ask"
  | "sleep"
  | "invoke_agent"
  /** A tool of an MCP server. */
  | `mcp__${string}__${string}`;

export type AgentTool = CodeTool | BuiltinTool;

/** Plays a script instead of asking a model; `tutti/testing` has functions that write one. */
export interface ScriptedModel {
  readonly kind: "script";
  readonly script: RehearsalScript;
}

/** `provider/model`, a model object of an AI SDK package, or a script. */
export type AgentModel = string | ModelObject | ScriptedModel;

export interface AgentOptions<Name extends string, Tools extends readonly AgentTool[], Output> {
  /** The name by which it is found again after a restart, and by which other agents call it. */
  readonly name: Name;
  readonly instructions: string;
  /** When absent, the model of `openTutti`. */
  readonly model?: AgentModel | undefined;
  readonly tools?: Tools | undefined;
  /** The result must fit this schema. The loop tells the model what does not fit until it does. Without one the result is text. */
  readonly output?: StandardSchema<Output> | undefined;
  /** What it is good for; told to agents that may call it. */
  readonly description?: string | undefined;
  /** Agents and workflows that it may call. With any it has the tool `invoke_agent`. */
  readonly subAgents?: readonly (AnyAgent | CodeWorkflow)[] | undefined;
  /** Agents that it may hand its task over to. */
  readonly handovers?: readonly AnyAgent[] | undefined;
  /** What it sees when another agent calls it: nothing but its message, or the conversation of its caller too. */
  readonly context?: "independent" | "inherited" | undefined;
  readonly effort?: Effort | undefined;
  readonly temperature?: number | undefined;
  readonly providerOptions?: ProviderOptions | undefined;
  readonly maxTurns?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly contextTokens?: number | undefined;
  /** How it calls its tools; `auto`, the default, depends on the model. */
  readonly format?: "native" | "fenced" | "auto" | undefined;
  readonly budget?: Partial<Budget> | undefined;
  /** Rules for its calls; they can make the program's own rules stricter and never looser. */
  readonly approvals?: ApprovalRules | undefined;
}

/** An agent as `agent` returns it. `Output` is the type of its result. */
export interface CodeAgent<
  Output = unknown,
  Tools extends readonly AgentTool[] = readonly AgentTool[],
  Name extends string = string,
> {
  readonly kind: "agent";
  readonly name: Name;
  readonly tools: Tools;
  readonly output: StandardSchema<Output> | undefined;
  readonly options: AgentSettings;
}

/** What is the same for agents of any type. */
type AgentSettings = Omit<AgentOptions<string, readonly AgentTool[], unknown>, "name" | "tools" | "output">;

/** An agent whose types do not matter where it is named. */
export type AnyAgent = Pick<CodeAgent, "kind" | "name" | "tools" | "output" | "options">;

/** The result of an agent: what its schema reads, or text. */
export type OutputOf<A> = A extends CodeAgent<infer Output, infer _Tools, infer _Name> ? Output : never;

/** Declares an agent. Its mistakes are told when `openTutti` gets it, with those of all others. */
export function agent<
  const Name extends string,
  const Tools extends readonly AgentTool[] = readonly [],
  Output = string,
>(options: AgentOptions<Name, Tools, Output>): CodeAgent<Output, Tools, Name>;
export function agent<const Name extends string, const Tools extends readonly AgentTool[], Output>(
  options: AgentOptions<Name, Tools, Output>,
): CodeAgent<Output, readonly AgentTool[], Name> {
  const { name, tools = [], output, ...settings } = options;
  return { kind: "agent", name, tools, output, options: settings };
}
