// Reads the definition of an agent: Markdown whose front matter holds its settings and whose body is its instructions.

import { toTuttiError } from "../../protocol/error.ts";
import { z } from "zod";

import { Budget } from "../../protocol/task/budget.ts";
import { callSettings, FallbackModels } from "../../protocol/invocation/call-settings.ts";
import { ApprovalRules } from "../../protocol/invocation/approval-policy.ts";
import { AgentDefinition, AgentRunner, Surrounding } from "../../protocol/invocation/invocation-file.ts";
import { ToolDelivery } from "../../protocol/invocation/tool-policy.ts";
import { AgentServers } from "../../protocol/invocation/mcp-servers.ts";
import { Profile } from "../../protocol/toolcalls/dialect.ts";
import { type FrontMatter, readFrontMatter, splitFrontMatter } from "./front-matter.ts";
import { readTools, splitList } from "./listed-tools.ts";
import { outputCheck } from "../loop/output-schema.ts";

export interface DefinitionIssue {
  readonly level: "error" | "warning";
  /** Counted from 1 in the file. */
  readonly line: number;
  readonly message: string;
}

export type DefinitionReading =
  | {
      readonly kind: "agent";
      readonly name: string;
      readonly definition: AgentDefinition;
      /** The other agents that the definition names, with their lines. */
      readonly mentions: readonly { readonly agent: string; readonly line: number }[];
      readonly issues: readonly DefinitionIssue[];
    }
  /** A Markdown file without front matter, which is not meant as an agent. */
  | { readonly kind: "other"; readonly issues: readonly DefinitionIssue[] }
  | { readonly kind: "broken"; readonly issues: readonly DefinitionIssue[] };

const filledText = z.string("must be text").refine((text) => text.trim() !== "", "is blank");
const list = z
  .union(
    [z.string().transform(splitList), z.array(filledText).transform((items) => items.map((item) => item.trim()))],
    {
      error: "must be a list, or names separated by commas",
    },
  )
  .nullable()
  .transform((items) => items ?? []);
/** A server that is only named is known elsewhere. */
function serversByName(given: (string | Record<string, unknown>)[] | Record<string, unknown>): Record<string, unknown> {
  if (!Array.isArray(given)) return { ...given };
  return Object.fromEntries(
    given.flatMap((each) => (typeof each === "string" ? [[each, null]] : Object.entries(each))),
  );
}

const microUsd = 1_000_000;
const maxUsd = 1_000_000;

const Fields = z.object({
  /** Names that begin with `_` are reserved for built-in agents. */
  name: filledText
    .transform((text) => text.trim())
    .refine(
      (text) => /^[\p{L}\p{N}](?:[\p{L}\p{N} _.-]{0,62}[\p{L}\p{N}_.-])?$/u.test(text),
      "must be at most 64 letters, digits, spaces, `-`, `_` and `.`, and begin with a letter or digit",
    )
    .optional(),
  description: filledText.optional(),
  tools: list.optional(),
  disallowedTools: list.optional(),
  tool_delivery: ToolDelivery.optional(),
  /** Names, servers of its own, or both: `[github, {docs: {url: …}}]`, or `{docs: {url: …}}`. */
  mcpServers: z
    .union([z.array(z.union([z.string(), z.record(z.string(), z.unknown())])), z.record(z.string(), z.unknown())], {
      error: "must be a list of names and servers",
    })
    .transform(serversByName)
    .pipe(AgentServers)
    .optional(),
  model: filledText.transform((text) => text.trim()).optional(),
  fallback_models: list.pipe(FallbackModels).optional(),
  ...callSettings,
  runtimes: list.optional(),
  runner: AgentRunner.optional(),
  context: z.enum(["independent", "inherited"]).optional(),
  handover: list.optional(),
  sub_agents: list.optional(),
  max_turns: z.int().positive().optional(),
  maxTurns: z.int().positive().optional(),
  max_output_tokens: z.int().positive().optional(),
  context_tokens: z.int().positive().optional(),
  budget: Budget.partial()
    .extend({ money_usd: z.number().nonnegative().max(maxUsd).optional() })
    .optional(),
  output_schema: z.record(z.string(), z.unknown()).optional(),
  format: z.enum(["native", "fenced", "auto"]).optional(),
  profile: Profile.optional(),
  approvals: ApprovalRules.optional(),
  surroundings: list
    .transform((names) => names.filter((name) => name !== "none"))
    .pipe(z.array(Surrounding))
    .optional(),
});
type Fields = z.infer<typeof Fields>;

/** Fields that other tools use and that have no effect here. */
const foreign = ["background", "color", "hooks", "initialPrompt", "isolation", "memory", "permissionMode", "skills"];

const longest = 1024 * 1024;

/** `stem` becomes the name of an agent whose definition has no name. Never throws. */
export function readDefinition(text: string, { stem }: { readonly stem: string }): DefinitionReading {
  if (text.length > longest) return broken(1, `is longer than ${longest} characters`);
  const split = splitFrontMatter(text);
  if (split.kind === "none") {
    const message = "has no front matter, so it is not taken for an agent; begin it with a line `---`";
    return { kind: "other", issues: [{ level: "warning", line: 1, message }] };
  }
  if (split.kind === "open") return broken(1, "the front matter is never closed; end it with a line `---`");
  const reading = readFrontMatter(split.yaml);
  if (!reading.ok) return broken(reading.line, reading.message);
  const { front } = reading;
  const issues: DefinitionIssue[] = [
    ...front.warnings.map((warning) => ({ level: "warning" as const, ...warning })),
    ...unknownFields(front),
  ];
  const parsed = Fields.safeParse({ name: stem, ...front.fields });
  if (!parsed.success) issues.push(...parsed.error.issues.map((issue) => fieldIssue(front, issue)));
  if (split.body.trim() === "") {
    issues.push({ level: "error", line: split.bodyLine, message: "has no instructions below the front matter" });
  }
  if (!parsed.success || issues.some((issue) => issue.level === "error"))
    return { kind: "broken", issues: inOrder(issues) };
  const { definition, issues: more } = definitionOf(parsed.data, { front, instructions: split.body });
  issues.push(...more);
  if (definition === undefined) return { kind: "broken", issues: inOrder(issues) };
  const mentions = (["handover", "sub_agents"] as const).flatMap((field) =>
    (definition[field] ?? []).map((agent) => ({ agent, line: front.lineOf([field]) })),
  );
  return { kind: "agent", name: parsed.data.name ?? stem, definition, mentions, issues: inOrder(issues) };
}

function broken(line: number, message: string): DefinitionReading {
  return { kind: "broken", issues: [{ level: "error", line, message }] };
}

function inOrder(issues: readonly DefinitionIssue[]): DefinitionIssue[] {
  return issues.toSorted((a, b) => a.line - b.line);
}

function fieldIssue(front: FrontMatter, { path, message, code, ...rest }: z.core.$ZodIssue): DefinitionIssue {
  const unknown = code === "unrecognized_keys" && "keys" in rest && Array.isArray(rest.keys) ? rest.keys : [];
  const line = front.lineOf(unknown.length > 0 ? [...path, String(unknown[0])] : path);
  return { level: "error", line, message: `${path.join(".")}: ${message}` };
}

/** A field that is nearly one of ours is an error: if it were ignored, the agent would get other rights than its author meant. */
function unknownFields({ fields, lineOf }: FrontMatter): DefinitionIssue[] {
  const known = Object.keys(Fields.shape);
  return Object.keys(fields).flatMap((field): DefinitionIssue[] => {
    if (known.includes(field)) return [];
    const line = lineOf([field]);
    if (foreign.includes(field)) return [{ level: "warning", line, message: `${field} changes nothing here` }];
    const meant = known.find((name) => isNearly(field, name));
    if (meant !== undefined) return [{ level: "error", line, message: `there is no field ${field}; write ${meant}` }];
    return [{ level: "warning", line, message: `${field} is not a field Tutti knows; it changes nothing` }];
  });
}

function isNearly(field: string, name: string): boolean {
  const bare = (text: string): string => text.toLowerCase().replaceAll(/[-_\s]/g, "");
  const [a, b] = [bare(field), bare(name)];
  return a === b || (b.length > 3 && (isOneOff(a, b) || isOneOff(b, a)));
}

/** Whether `longer` is `text` with one letter added or one letter changed. */
function isOneOff(text: string, longer: string): boolean {
  if (longer.length - text.length > 1 || longer.length < text.length) return false;
  let at = 0;
  while (at < text.length && text[at] === longer[at]) at += 1;
  return text.slice(longer.length > text.length ? at : at + 1) === longer.slice(at + 1);
}

function definitionOf(
  fields: Fields,
  { front, instructions }: { readonly front: FrontMatter; readonly instructions: string },
): { readonly definition: AgentDefinition | undefined; readonly issues: readonly DefinitionIssue[] } {
  const issues: DefinitionIssue[] = [];
  const note = (level: DefinitionIssue["level"], field: string, message: string): void => {
    issues.push({ level, line: front.lineOf([field]), message });
  };
  const listed = fields.tools === undefined ? undefined : readTools(fields.tools);
  for (const warning of listed?.warnings ?? []) note("warning", "tools", warning);
  const denied = readTools(
    (fields.disallowedTools ?? []).map((entry) => entry.replace(/^([^(]*)\(.*\)$/s, "$1")),
  ).tools;
  if (denied?.length !== 0 && listed?.tools === undefined) {
    note("error", "disallowedTools", "can only take away from `tools`; list there what the agent may use");
    return { definition: undefined, issues };
  }
  // Undefined means every tool.
  const tools = listed?.tools?.filter((tool) => denied?.includes(tool) === false);
  if (fields.description === undefined)
    note("warning", "name", "has no description, so other agents cannot tell when to call it");
  const { money_usd: usd, ...limits } = fields.budget ?? {};
  if (usd !== undefined && limits.money_micro_usd !== undefined) {
    note("error", "budget", "budget has both money_usd and money_micro_usd; keep one");
    return { definition: undefined, issues };
  }
  const unusable = fields.output_schema === undefined ? undefined : schemaProblem(fields.output_schema);
  if (unusable !== undefined) {
    note("error", "output_schema", unusable);
    return { definition: undefined, issues };
  }
  const budget = usd === undefined ? limits : { ...limits, money_micro_usd: Math.round(usd * microUsd) };
  const { description, runtimes, context, handover, max_output_tokens, context_tokens, output_schema } = fields;
  const { format, profile, approvals, runner, surroundings, tool_delivery } = fields;
  const { effort, temperature, provider_options, fallback_models } = fields;
  const definition = present({
    description,
    instructions,
    tools,
    mcp_servers: fields.mcpServers,
    tool_delivery,
    model: fields.model === "inherit" ? undefined : fields.model,
    fallback_models,
    effort,
    temperature,
    provider_options,
    runtimes,
    runner,
    context,
    handover,
    sub_agents: fields.sub_agents ?? listed?.agents,
    max_turns: fields.max_turns ?? fields.maxTurns,
    max_output_tokens,
    context_tokens,
    budget: fields.budget === undefined ? undefined : present(budget),
    output_schema,
    format,
    profile,
    approvals,
    surroundings,
  });
  return { definition: AgentDefinition.parse(definition), issues };
}

function schemaProblem(schema: Readonly<Record<string, unknown>>): string | undefined {
  try {
    outputCheck(schema);
    return undefined;
  } catch (thrown) {
    return toTuttiError(thrown).message;
  }
}

function present(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
