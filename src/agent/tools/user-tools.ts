// Checks the tools that a project's config exports and makes them tools of its agents.

import { z } from "zod";

import { jsonCopy } from "../../core/json-copy.ts";
import { Effect } from "../../protocol/invocation/approval-policy.ts";
import { thrownMessage, TuttiError } from "../../protocol/error.ts";
import { describeIssue, describeIssues, issuesOf, type ReadIssue } from "../../protocol/lenient-read.ts";
import type { PreparedCall, StepTool, StepToolContext } from "./tool.ts";
import type { StandardIssue, StandardResult, StandardSchema, ToolDefinition } from "./define-tool.ts";

const defaultMs = 60_000;
const longestMs = 60 * 60_000;
export const isFunction = (value: unknown): boolean => typeof value === "function";

const Definition = z.strictObject({
  name: z
    .string()
    .regex(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/, "must be a plain name of at most 64 letters, digits, _ and -"),
  description: z.string().min(1),
  input: z.custom<StandardSchema>(isStandardSchema, "must be a Standard Schema, such as one of zod"),
  parameters: z.record(z.string(), z.unknown()).optional(),
  effects: z.array(Effect).min(1, "must name the effects it may have: read, write, execute, network"),
  repeatable: z.boolean().default(false),
  timeout_ms: z.int().positive().max(longestMs).default(defaultMs),
  run: z.custom<ToolDefinition["run"]>(isFunction, "must be a function"),
});
type Definition = z.infer<typeof Definition>;

/** What a config exports and can be called, with the name that errors call it by. */
interface Callable extends Definition {
  readonly label: string;
}

/** A tool of a config, with the longest time that one call of it may take. */
export interface UserTool extends StepTool {
  readonly timeoutMs: number;
}

export type UserTools =
  | { readonly ok: true; readonly tools: readonly UserTool[] }
  | { readonly ok: false; readonly issues: readonly string[] };

/** All tools or none. `taken`: names that other tools have already. */
export function readUserTools(
  exported: readonly unknown[],
  { file, taken }: { readonly file: string; readonly taken: readonly string[] },
): UserTools {
  const names = new Set(taken);
  const tools: UserTool[] = [];
  const issues: string[] = [];
  for (const [index, value] of exported.entries()) {
    const where = `${file}: ${labelOf(value, index)}`;
    const parsed = Definition.safeParse(value);
    if (!parsed.success) {
      issues.push(...issuesOf(parsed.error).map((issue) => `${where}: ${describeIssue(issue)}`));
      continue;
    }
    const parameters = parametersOf(parsed.data);
    if (typeof parameters === "string") issues.push(`${where}: ${parameters}`);
    else if (names.has(parsed.data.name)) issues.push(`${where}: there is a tool of that name already; rename it`);
    else tools.push(userTool({ ...parsed.data, label: `the tool ${parsed.data.name}` }, parameters));
    names.add(parsed.data.name);
  }
  return issues.length > 0 ? { ok: false, issues } : { ok: true, tools };
}

function labelOf(value: unknown, index: number): string {
  const name = typeof value === "object" && value !== null && "name" in value ? value.name : undefined;
  return typeof name === "string" && name !== "" ? `the tool ${name.slice(0, 64)}` : `tools[${index}]`;
}

export function isStandardSchema(value: unknown): boolean {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  const standard: unknown = "~standard" in value ? value["~standard"] : undefined;
  return typeof standard === "object" && standard !== null && "validate" in standard && isFunction(standard.validate);
}

function isZod(schema: StandardSchema): schema is StandardSchema & z.ZodType {
  return "_zod" in schema;
}

/** The JSON Schema for the model, or a text that says why there is none. */
function parametersOf({ input, parameters }: Definition): Record<string, unknown> | string {
  const schema = parameters ?? jsonSchemaOf(input);
  if (typeof schema === "string") return `input: ${schema}; give parameters`;
  return schema["type"] === "object" ? schema : "input: it must be an object of named arguments";
}

/** What a value must be like before the schema reads it; or a text that says why that cannot be written down. */
export function jsonSchemaOf(schema: StandardSchema): Record<string, unknown> | string {
  let written: Record<string, unknown> | undefined;
  try {
    written = schema["~standard"].jsonSchema?.input({ target: "draft-2020-12" });
    if (written === undefined && isZod(schema)) written = z.toJSONSchema(schema, { io: "input" });
  } catch (thrown) {
    return `it cannot be written as JSON Schema (${thrownMessage(thrown)})`;
  }
  if (written === undefined) return "this library cannot write its schema as JSON Schema";
  const { $schema: _, ...rest } = written;
  return rest;
}

export function userTool(definition: Callable, parameters: Record<string, unknown>): UserTool {
  const { name, description, effects, repeatable } = definition;
  return {
    kind: "step",
    name,
    declaration: { name, description, parameters },
    effects,
    repeatable,
    timeoutMs: definition.timeout_ms,
    prepare: (input) => prepareCall(definition, input),
  };
}

/** Never confined: the project's own code may reach outside of the task's folders. */
function prepareCall(definition: Callable, input: unknown): PreparedCall<StepToolContext> {
  const effect = { effects: definition.effects, confined: false };
  const call = (value: unknown, context: StepToolContext): unknown => runTool(definition, value, context);
  let checked: StandardResult<unknown> | Promise<StandardResult<unknown>>;
  try {
    checked = definition.input["~standard"].validate(input);
  } catch (thrown) {
    return {
      ok: false,
      issues: [{ path: "", message: `the check of the arguments failed: ${thrownMessage(thrown)}` }],
    };
  }
  if (!(checked instanceof Promise)) {
    if (checked.issues !== undefined) return { ok: false, issues: checked.issues.map(readIssue) };
    const { value } = checked;
    return { ok: true, effect, run: (context) => call(value, context) };
  }
  const checking = checked;
  // It may fail before anybody awaits it, which must not count as unhandled.
  checking.catch(() => undefined);
  return {
    ok: true,
    effect,
    async run(context) {
      const result = await checking;
      if (result.issues === undefined) return call(result.value, context);
      const issues = describeIssues(result.issues.map(readIssue));
      throw new TuttiError("invalid_input", `the arguments do not fit: ${issues}`);
    },
  };
}

/** A tool that answers at once costs neither a timer nor a promise. */
function runTool(definition: Callable, input: unknown, { step, rights }: StepToolContext): unknown {
  const { signal } = step;
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(signal.reason);
  let late: TuttiError | undefined;
  let timer: NodeJS.Timeout | undefined;
  const ended = (): void => {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  };
  const failed = (thrown: unknown): never => {
    ended();
    if (thrown === late || signal.aborted) throw thrown;
    throw new TuttiError("step_failed", `${definition.label} failed: ${thrownMessage(thrown)}`, { cause: thrown });
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    const outcome = definition.run(input, {
      signal: controller.signal,
      key: step.key,
      roots: rights.roots,
      progress: (text) => step.live("output", text),
    });
    if (!isThenable(outcome)) {
      ended();
      return asJson(outcome);
    }
    const over = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        late = lateError(definition);
        reject(late);
        controller.abort(late);
      }, definition.timeout_ms);
    });
    return Promise.race([outcome, over])
      .then((given) => {
        const kept = asJson(given);
        ended();
        return kept;
      })
      .catch(failed);
  } catch (thrown) {
    return failed(thrown);
  }
}

function lateError({ label, timeout_ms }: Callable): TuttiError {
  return new TuttiError("deadline", `${label} took longer than its ${timeout_ms} ms`, { retry: "unknown" });
}

/** What JSON keeps of an outcome. */
function asJson(outcome: unknown): unknown {
  if (typeof outcome === "string") return outcome;
  return jsonCopy(outcome) ?? JSON.parse(JSON.stringify(outcome) ?? "null");
}

function isThenable(outcome: unknown): outcome is PromiseLike<unknown> {
  return typeof outcome === "object" && outcome !== null && "then" in outcome && isFunction(outcome.then);
}

export function readIssue({ message, path }: StandardIssue): ReadIssue {
  const names = (path ?? []).map((segment) => String(typeof segment === "object" ? segment.key : segment));
  return { path: names.join("."), message };
}
