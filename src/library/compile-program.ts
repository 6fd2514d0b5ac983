// Checks the agents, tools and workflows of a program and turns them into what the engine's parts work with.

import { isStandardSchema, jsonSchemaOf, readUserTools, type UserTool } from "../agent/tools/user-tools.ts";
import type { OutputCheck } from "../agent/loop/output-schema.ts";
import { builtinTools } from "../agent/agent-environment.ts";
import { reservedToolNames } from "../agent/tools/loop-tools.ts";
import { isModelObject, type ModelObject, objectName } from "../model/model-object.ts";
import { TuttiError } from "../protocol/error.ts";
import type { ApprovalRules, Effect } from "../protocol/invocation/approval-policy.ts";
import { AgentDefinition } from "../protocol/invocation/invocation-file.ts";
import { RehearsalScript } from "../protocol/invocation/rehearsal-script.ts";
import { programKind } from "../protocol/invocation/runner-kinds.ts";
import { describeIssue, issuesOf } from "../protocol/lenient-read.ts";
import type { AgentModel, AnyAgent } from "./code-agent.ts";
import type { CodeTool, ToolApproval } from "./code-tool.ts";
import type { CodeWorkflow } from "./code-workflow.ts";
import { outputCheckOf } from "./read-schema.ts";

export interface CompiledProgram {
  readonly agents: Readonly<Record<string, AgentDefinition>>;
  readonly tools: readonly UserTool[];
  readonly codeTools: ReadonlyMap<string, CodeTool>;
  readonly workflows: readonly CodeWorkflow[];
  readonly outputChecks: ReadonlyMap<string, OutputCheck>;
  /** Models that are objects or scripts, by the names that agents have them by. */
  readonly models: ReadonlyMap<string, ModelObject | RehearsalScript>;
  readonly approvals: ApprovalRules;
}

export interface ProgramSource {
  readonly agents: readonly AnyAgent[];
  readonly workflows: readonly CodeWorkflow[];
  /** Of agents that name none. */
  readonly model?: AgentModel | undefined;
  readonly approvals?: ApprovalRules | undefined;
}

const takenNames = [...builtinTools.map(({ name }) => name), ...reservedToolNames];
const plainName = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;

/** Throws `invalid_input` with everything that is wrong. */
export function compileProgram(source: ProgramSource): CompiledProgram {
  const found = reachable(source);
  const { issues } = found;
  const models = new ModelNames();
  const outputChecks = new Map<string, OutputCheck>();
  const agents: Record<string, AgentDefinition> = {};
  for (const each of found.agents.values()) {
    const definition = definitionOf(each, { models, fallback: source.model, issues });
    if (definition !== undefined) agents[each.name] = definition;
    if (each.output !== undefined && isStandardSchema(each.output)) {
      outputChecks.set(each.name, outputCheckOf(each.output));
    }
  }
  for (const each of found.workflows.values()) {
    if (!isStandardSchema(each.input)) issues.push(`the workflow ${each.name}: its input must be a Standard Schema`);
    agents[each.name] ??= workflowDefinition(each);
  }
  const codeTools = new Map([...found.tools].map(([name, each]) => [name, each]));
  const read = readUserTools([...codeTools.values()].map(userTool), { file: "the program", taken: takenNames });
  if (!read.ok) issues.push(...read.issues);
  if (issues.length > 0) {
    throw new TuttiError("invalid_input", `the program cannot be used: ${issues.join("; ")}`, { details: { issues } });
  }
  return {
    agents,
    tools: read.ok ? read.tools : [],
    codeTools,
    workflows: [...found.workflows.values()],
    outputChecks,
    models: models.made,
    approvals: approvalsOf(codeTools.values(), source.approvals ?? {}),
  };
}

interface Found {
  readonly agents: Map<string, AnyAgent>;
  readonly workflows: Map<string, CodeWorkflow>;
  readonly tools: Map<string, CodeTool>;
  readonly issues: string[];
}

/** Everything that is listed, and everything that it names. A name stands for one thing, by which it is found again. */
function reachable({ agents, workflows }: ProgramSource): Found {
  const found: Found = { agents: new Map(), workflows: new Map(), tools: new Map(), issues: [] };
  const { issues } = found;
  const add = <T extends { readonly name: string }>(known: Map<string, T>, each: T, what: string): boolean => {
    const other = known.get(each.name);
    if (other === undefined) known.set(each.name, each);
    else if (other !== each) issues.push(`there are two ${what}s ${each.name}; rename one of them`);
    if (!plainName.test(each.name)) {
      issues.push(
        `the ${what} ${JSON.stringify(each.name)} must have a plain name of at most 64 letters, digits, _ and -`,
      );
    }
    return other === undefined;
  };
  const waiting: (AnyAgent | CodeWorkflow)[] = [...agents, ...workflows];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next.kind === "workflow") {
      add(found.workflows, next, "workflow");
      continue;
    }
    if (!add(found.agents, next, "agent")) continue;
    for (const each of next.tools) if (typeof each !== "string") add(found.tools, each, "tool");
    waiting.push(...(next.options.subAgents ?? []), ...(next.options.handovers ?? []));
  }
  for (const name of found.agents.keys()) {
    if (found.workflows.has(name)) issues.push(`${name} is the name of an agent and of a workflow; rename one of them`);
  }
  return found;
}

interface DefinitionOptions {
  readonly models: ModelNames;
  readonly fallback: AgentModel | undefined;
  readonly issues: string[];
}

function definitionOf(each: AnyAgent, { models, fallback, issues }: DefinitionOptions): AgentDefinition | undefined {
  const { name, tools, output, options } = each;
  const { subAgents = [], handovers = [] } = options;
  const model = options.model ?? fallback;
  const own = tools.map((one) => (typeof one === "string" ? one : one.name));
  const given: Record<string, unknown> = {
    description: options.description,
    instructions: options.instructions,
    tools: subAgents.length === 0 || own.includes("invoke_agent") ? own : [...own, "invoke_agent"],
    model: model === undefined ? undefined : models.nameOf(model, name),
    effort: options.effort,
    temperature: options.temperature,
    provider_options: options.providerOptions,
    context: options.context,
    handover: handovers.length === 0 ? undefined : handovers.map((one) => one.name),
    sub_agents: subAgents.map((one) => one.name),
    max_turns: options.maxTurns,
    max_output_tokens: options.maxOutputTokens,
    context_tokens: options.contextTokens,
    format: options.format,
    budget: options.budget,
    approvals: options.approvals,
    output_schema: outputSchema(each, issues),
  };
  const parsed = AgentDefinition.safeParse(
    Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  );
  if (model === undefined)
    issues.push(`the agent ${name} has no model; give it one, or give \`openTutti\` a model for all`);
  if (output !== undefined && !isStandardSchema(output))
    issues.push(`the agent ${name}: output must be a Standard Schema`);
  if (parsed.success) return parsed.data;
  issues.push(...issuesOf(parsed.error).map((issue) => `the agent ${name}: ${describeIssue(issue)}`));
  return undefined;
}

function outputSchema({ name, output }: AnyAgent, issues: string[]): Record<string, unknown> | undefined {
  if (output === undefined || !isStandardSchema(output)) return undefined;
  const schema = jsonSchemaOf(output);
  if (typeof schema !== "string") return schema;
  issues.push(`the agent ${name}: output: ${schema}`);
  return undefined;
}

/** What agents that may call the workflow see of it. */
function workflowDefinition({ name, description }: CodeWorkflow): AgentDefinition {
  return {
    description: description ?? `Runs the workflow ${name}. Its prompt is the input of the workflow, as JSON.`,
    instructions: `the workflow ${name}`,
    runner: { kind: programKind, config: {} },
  };
}

function userTool(each: CodeTool): Record<string, unknown> {
  const { name, description, input, parameters, effects, repeatable, timeoutMs } = each;
  return {
    name,
    description,
    input,
    ...(parameters === undefined ? {} : { parameters }),
    effects,
    repeatable,
    ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }),
    run: (given: unknown, context: Parameters<CodeTool["run"]>[1]) => each.run(given, context),
  };
}

const strictness = { free: 0, confined: 1, ask: 1, refuse: 2 } as const;

/**
 * The tools of a program are its author's own code and run at once, unless the tool or the rules of the program say
 * otherwise. The built-in tools keep the default rules.
 */
function approvalsOf(tools: Iterable<CodeTool>, rules: ApprovalRules): ApprovalRules {
  const byTool: Record<string, ToolApproval> = {};
  for (const { name, effects, approval } of tools) {
    byTool[name] = approval ?? strictestRule(rules, effects);
  }
  return { ...rules, tools: { ...byTool, ...rules.tools } };
}

/** What rules about effects say of a tool with these. Nothing confines a tool of a program. */
export function strictestRule(rules: ApprovalRules, effects: readonly Effect[]): ToolApproval {
  const strictest = Math.max(0, ...effects.map((effect) => strictness[ruleOf(rules, effect)]));
  return strictest === 0 ? "free" : strictest === 1 ? "ask" : "refuse";
}

function ruleOf(rules: ApprovalRules, effect: Effect): keyof typeof strictness {
  return rules[effect] ?? "free";
}

/** Gives each model a name; the same object always has the same one. */
class ModelNames {
  readonly made = new Map<string, ModelObject | RehearsalScript>();
  readonly #names = new Map<object, string>();

  nameOf(model: AgentModel, agent: string): string {
    if (typeof model === "string") return model;
    const value = isModelObject(model) ? model : model.script;
    const known = this.#names.get(value);
    if (known !== undefined) return known;
    const wanted = isModelObject(model) ? objectName(model) : `rehearsal/${agent}`;
    let name = wanted;
    for (let count = 2; this.made.has(name); count += 1) name = `${wanted}#${count}`;
    this.made.set(name, isModelObject(model) ? model : RehearsalScript.parse(model.script));
    this.#names.set(value, name);
    return name;
  }
}
