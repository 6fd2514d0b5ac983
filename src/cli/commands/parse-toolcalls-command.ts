// `tutti parse toolcalls`: parses the tool calls in a model's reply and shows what was found.
import { TuttiError } from "../../protocol/error.ts";
import { parseToolCalls } from "../../protocol/toolcalls/parse-tool-calls.ts";
import type { ToolCallReply } from "../../protocol/toolcalls/tool-call.ts";
import { type BatchRecord, inputOf, runBatch } from "../batch.ts";
import { readText } from "../input.ts";
import type { InputOptions } from "../options.ts";
import { indent } from "../terminal/output.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { bold, dim } from "../terminal/style.ts";

export interface ParseToolcallsOptions extends InputOptions {
  readonly profile: "strict" | "tolerant";
  readonly tools?: readonly string[];
  readonly cut?: boolean;
}

export async function parseToolcallsCommand(file: string | undefined, options: ParseToolcallsOptions): Promise<void> {
  const { profile, limit } = options;
  if (options.jsonl === true) {
    await runBatch((record) => ({ ...parseToolCalls(inputOf(record, limit), { profile, ...settingsOf(record) }) }), {
      file,
      limit,
    });
    return;
  }
  const { tools, cut } = options;
  const reply = parseToolCalls(await readText(file, limit), {
    profile,
    ...(tools === undefined ? {} : { tools }),
    ...(cut === undefined ? {} : { cut }),
  });
  await (options.json === true ? writeJson(reply) : writeLine(show(reply)));
}

function settingsOf(record: BatchRecord): { tools?: readonly string[]; cut?: boolean } {
  const tools = record["tools"] ?? undefined;
  const cut = record["cut"] ?? undefined;
  if (tools !== undefined && !isStrings(tools))
    throw new TuttiError("invalid_input", "`tools` must be a list of strings");
  if (cut !== undefined && typeof cut !== "boolean")
    throw new TuttiError("invalid_input", "`cut` must be true or false");
  return { ...(tools === undefined ? {} : { tools }), ...(cut === undefined ? {} : { cut }) };
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function show(reply: ToolCallReply): string {
  const lines = [
    ...section(
      "calls",
      reply.calls.map((call) => `${dim(call.id)} ${bold(call.name)} ${json(call.args)}`),
    ),
    ...section(
      "errors",
      reply.errors.map(
        ({ line, code, message, excerpt }) =>
          `line ${line}: ${bold(code)}: ${message}\n${dim(indent(excerpt.trimEnd()))}`,
      ),
    ),
    ...section(
      "violations",
      reply.violations.map((violation) => `${bold(violation.kind)}: ${violation.message}`),
    ),
    ...section(
      "ignored, inside reasoning",
      reply.ignored.map((call) => `${call.name} ${json(call.args)}`),
    ),
    ...section("prose", reply.prose === "" ? [] : [reply.prose]),
    ...section("reasoning", reply.reasoning === "" ? [] : [reply.reasoning]),
  ];
  return lines.length === 0 ? "nothing: the reply is empty" : lines.join("\n");
}

function section(title: string, items: readonly string[]): string[] {
  if (items.length === 0) return [];
  return [`${title}:`, ...items.map(indent)];
}

function json(value: unknown): string {
  return JSON.stringify(value);
}
