// What an agent has in one run: its tools, format, system prompt and limits. Made once for all tasks of the same kind.

import { rehearsalModelName } from "../../core/rehearsal-name.ts";
import type { Rights } from "../../core/rights.ts";
import type { AgentDefinition, InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import type { Profile } from "../../protocol/toolcalls/dialect.ts";
import { isJsonObject, type JsonObject } from "../../protocol/toolcalls/tool-call.ts";
import type { Model, ModelFacts, ModelFormat, ModelRequest, ModelTool } from "../../model-port.ts";
import type { AgentEnvironment } from "../agent-environment.ts";
import type { FoundAgent } from "../delegation/find-agent.ts";
import type { OfferedTools } from "../delegation/task-input.ts";
import { makeToolbox, type Toolbox } from "../tools/toolbox.ts";
import type { ModelChoice } from "./conversation.ts";
import { fencedSystem } from "./fenced-form.ts";
import { outputCheck, type OutputCheck } from "./output-schema.ts";

const defaultContext = 128_000;
const defaultMaxTurns = 50;

export interface AgentSetup {
  readonly toolbox: Toolbox;
  /** Names of the tools that the model may call, those it has yet to find among them. */
  readonly toolNames: ReadonlySet<string>;
  /** The JSON Schemas of their arguments. */
  readonly toolSchemas: ReadonlyMap<string, JsonObject>;
  readonly format: ModelFormat;
  /** Whether the agent calls its tools in the text when the server refuses them. */
  readonly formatMayChange: boolean;
  readonly profile: Profile;
  readonly system: string;
  /** The model's name. */
  readonly model: string;
  /** The models that are tried after this one, in this order. */
  readonly nextModels: readonly string[];
  readonly contextTokens: number;
  /** The longest reply that is asked for; undefined to leave it to the model. */
  readonly maxOutputTokens: number | undefined;
  /** The longest reply that is asked for after one was cut; undefined when no longer one may be. */
  readonly raisedOutputTokens: number | undefined;
  /** How the model is called. */
  readonly callSettings: Pick<ModelRequest, "effort" | "temperature" | "providerOptions">;
  /** Whether the agent calls others, and so waits for long between its turns. */
  readonly waits: boolean;
  readonly maxTurns: number;
  /** Undefined when any result will do. */
  readonly checkOutput: OutputCheck | undefined;
}

export interface SetupOptions {
  readonly file: InvocationFile;
  readonly environment: AgentEnvironment;
  readonly agent: FoundAgent;
  readonly rights: Rights;
  readonly offeredTools: OfferedTools;
  /** Goes before the model of the agent's definition. */
  readonly modelName?: string | undefined;
  readonly nextModels?: readonly string[] | undefined;
  /** The model and format that the task has come to use; those of the definition when absent. */
  readonly choice?: ModelChoice | undefined;
}

/** Rendering a contract and listing tools costs more than a turn of a small task, and most tasks of a tree are alike. */
const cache = new WeakMap<AgentEnvironment, WeakMap<InvocationFile, Map<string, AgentSetup>>>();

export function agentSetup(options: SetupOptions, model: Model): AgentSetup {
  const { file, environment, agent, rights, offeredTools } = options;
  const files = cache.get(environment) ?? new WeakMap<InvocationFile, Map<string, AgentSetup>>();
  cache.set(environment, files);
  const setups = files.get(file) ?? new Map<string, AgentSetup>();
  files.set(file, setups);
  const key = JSON.stringify([
    agent.id,
    agent.instructions,
    agent.definition.tool_delivery,
    rights.tools,
    offeredTools,
    options.modelName,
    options.nextModels,
    options.choice ?? model.facts?.(firstModel(options)).format,
  ]);
  const known = setups.get(key);
  if (known !== undefined) return known;
  const setup = makeSetup(options, model);
  setups.set(key, setup);
  return setup;
}

/** The model of agents that name none. Whoever gives a script and names no model wants the script to be played. */
export function modelOf(
  { model, script }: InvocationFile,
  environment: Pick<AgentEnvironment, "defaultModel">,
): string {
  return model ?? (script === undefined ? environment.defaultModel : rehearsalModelName);
}

function firstModel({ file, environment, agent, modelName }: SetupOptions): string {
  return modelName ?? agent.definition.model ?? modelOf(file, environment);
}

function makeSetup(options: SetupOptions, model: Model): AgentSetup {
  const { file, environment, agent, rights, offeredTools, choice } = options;
  const { definition, instructions } = agent;
  const toolbox = makeToolbox({ file, environment, definition, rights, offeredTools });
  const first = firstModel(options);
  const name = choice?.model ?? first;
  const facts = model.facts?.(name);
  const wanted = definition.format ?? "auto";
  const format = wanted === "auto" ? (choice?.format ?? facts?.format ?? "native") : wanted;
  const { output_schema } = definition;
  const tools = [...toolbox.declarations, ...toolbox.deferred];
  return {
    toolbox,
    toolNames: new Set(tools.map((tool) => tool.name)),
    toolSchemas: schemasOf(tools),
    format,
    formatMayChange: wanted === "auto" && facts?.formatMayChange === true,
    profile: definition.profile ?? facts?.profile ?? "tolerant",
    system: format === "fenced" ? fencedSystem(instructions, toolbox.declarations) : instructions,
    model: name,
    nextModels: modelsAfter(name, [
      first,
      ...(options.nextModels ?? definition.fallback_models ?? file.fallback_models ?? fallbacksOf(model, first)),
    ]),
    contextTokens: definition.context_tokens ?? facts?.contextTokens ?? defaultContext,
    maxOutputTokens: definition.max_output_tokens,
    raisedOutputTokens: definition.max_output_tokens === undefined ? raisedOutput(facts) : undefined,
    callSettings: callSettingsOf(file, definition),
    waits: (definition.sub_agents ?? []).length > 0,
    maxTurns: definition.max_turns ?? defaultMaxTurns,
    checkOutput:
      output_schema === undefined ? undefined : wholeCheck(output_schema, environment.outputChecks?.get(agent.id)),
  };
}

/** The JSON Schema first: what goes beyond it may rely on the shape. */
function wholeCheck(schema: NonNullable<AgentDefinition["output_schema"]>, more: OutputCheck | undefined): OutputCheck {
  const check = outputCheck(schema);
  if (more === undefined) return check;
  return (value) => {
    const issues = check(value);
    return issues.length > 0 ? issues : more(value);
  };
}

function schemasOf(tools: readonly ModelTool[]): Map<string, JsonObject> {
  const schemas = new Map<string, JsonObject>();
  for (const { name, parameters } of tools) if (isJsonObject(parameters)) schemas.set(name, parameters);
  return schemas;
}

function fallbacksOf(model: Model, name: string): readonly string[] {
  return model.facts?.(name).fallbacks ?? [];
}

function modelsAfter(name: string, all: readonly string[]): readonly string[] {
  return all.slice(all.indexOf(name) + 1).filter((other) => other !== name);
}

/** What the definition sets goes before what the file sets for all agents. */
function callSettingsOf(file: InvocationFile, definition: AgentDefinition): AgentSetup["callSettings"] {
  const { effort = file.effort, temperature = file.temperature } = definition;
  const { provider_options = file.provider_options } = definition;
  return {
    ...(effort === undefined ? {} : { effort }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(provider_options === undefined ? {} : { providerOptions: provider_options }),
  };
}

function raisedOutput(facts: ModelFacts | undefined): number | undefined {
  const { maxOutputTokens = 0, mostOutputTokens = 0 } = facts ?? {};
  return mostOutputTokens > maxOutputTokens ? mostOutputTokens : undefined;
}
