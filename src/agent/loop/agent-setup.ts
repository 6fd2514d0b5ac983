// What an agent goes to work with in one run: its tools, its format, its system prompt, its limits. Made once for all tasks of a kind.

import type { Rights } from "../../core/rights.ts";
import type { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import type { Model, ModelFormat } from "../../ports.ts";
import type { FoundAgent } from "../delegation/find-agent.ts";
import { fencedSystem } from "./fenced-form.ts";
import type { AgentEnvironment } from "../agent-environment.ts";
import { outputCheck, type OutputCheck } from "./output-schema.ts";
import type { Offer } from "../delegation/task-input.ts";
import { type Toolbox, toolboxOf } from "../tools/toolbox.ts";

const defaultModel = "rehearsal/script";
const defaultContext = 128_000;
const defaultMaxTurns = 50;

export interface AgentSetup {
  readonly toolbox: Toolbox;
  /** Names of the tools it is offered. */
  readonly tools: readonly string[];
  /** The same, to look them up in. */
  readonly names: ReadonlySet<string>;
  readonly format: ModelFormat;
  readonly system: string;
  /** The model's name. */
  readonly model: string;
  readonly contextTokens: number;
  readonly maxTurns: number;
  /** Undefined when any result will do. */
  readonly checkOutput: OutputCheck | undefined;
}

export interface SetupOwner {
  readonly file: InvocationFile;
  readonly environment: AgentEnvironment;
  readonly agent: FoundAgent;
  readonly rights: Rights;
  readonly offer: Offer;
}

/** Rendering a contract and listing tools costs more than a turn of a small task, and most tasks of a tree are alike. */
const made = new WeakMap<AgentEnvironment, WeakMap<InvocationFile, Map<string, AgentSetup>>>();

export function agentSetup(owner: SetupOwner, model: Model): AgentSetup {
  const { file, environment, agent, rights, offer } = owner;
  const files = made.get(environment) ?? new WeakMap<InvocationFile, Map<string, AgentSetup>>();
  made.set(environment, files);
  const setups = files.get(file) ?? new Map<string, AgentSetup>();
  files.set(file, setups);
  const key = JSON.stringify([agent.id, agent.instructions, rights.tools, offer]);
  const known = setups.get(key);
  if (known !== undefined) return known;
  const setup = makeSetup(owner, model);
  setups.set(key, setup);
  return setup;
}

function makeSetup({ file, environment, agent, rights, offer }: SetupOwner, model: Model): AgentSetup {
  const { definition, instructions } = agent;
  const toolbox = toolboxOf({ file, environment, definition, rights, offer });
  const name = definition.model ?? file.model ?? defaultModel;
  const facts = model.facts?.(name);
  const wanted = definition.format ?? "auto";
  const format = wanted === "auto" ? (facts?.format ?? "native") : wanted;
  const { output_schema } = definition;
  const tools = toolbox.shown.map((tool) => tool.name);
  return {
    toolbox,
    tools,
    names: new Set(tools),
    format,
    system: format === "fenced" ? fencedSystem(instructions, toolbox.shown) : instructions,
    model: name,
    contextTokens: definition.context_tokens ?? facts?.contextTokens ?? defaultContext,
    maxTurns: definition.max_turns ?? defaultMaxTurns,
    checkOutput: output_schema === undefined ? undefined : outputCheck(output_schema),
  };
}
