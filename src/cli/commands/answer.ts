// `tutti answer`: answers a question, an approval or a budget ask, or gives the result of a client's own tool.
import { createInterface } from "node:readline/promises";

import type { Reader, Tutti } from "../../client/client.ts";
import type { Host } from "../../host/host.ts";
import type { OpenAsk, OpenWait } from "../../protocol/api/task-shapes.ts";
import { type ErrorCode, TuttiError } from "../../protocol/error.ts";
import { Answer } from "../../protocol/task/ask.ts";
import { answerFrom, askText } from "../terminal/question.ts";
import { openOf } from "./asks.ts";
import { deliver } from "../deliver-answer.ts";
import { writeLine } from "../terminal/output.ts";
import { printable } from "../terminal/printable.ts";
import { commandLine, interrupted, withDaemon } from "../connect.ts";

export interface AnswerOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly jsonValue?: string;
}

export async function answerCommand(
  host: Host,
  id: string,
  { words, options }: { readonly words: readonly string[]; readonly options: AnswerOptions },
): Promise<void> {
  if (options.jsonValue !== undefined && words.length > 0) {
    throw new TuttiError("usage", "give the answer as text or with --json-value, not both");
  }
  const find = (reader: Reader): Promise<OpenAsk | OpenWait> => findOpen(reader, id, options.state);
  await withDaemon(host, { state: options.state, json: options.json, check: find }, async (tutti) => {
    const open = await find(tutti);
    const value = await valueFor(open, words, options);
    if (value === undefined) return leave(id);
    await give(tutti, open, value);
    await writeLine(options.json === true ? JSON.stringify({ ask: id, accepted: true }) : `${id} is answered`);
  });
}

async function findOpen(reader: Reader, id: string, state: string | undefined): Promise<OpenAsk | OpenWait> {
  const { asks, waits } = await openOf(reader);
  const found = [...asks, ...waits].find((open) => open.id === id);
  if (found !== undefined) return found;
  const all = commandLine(state, "asks");
  const message = `${id} is not open: it was answered, has expired, or never was; \`${all}\` lists what is`;
  throw new TuttiError("not_found", message);
}

function leave(id: string): void {
  console.error(`\ntutti: ${id} stays open`);
  process.exitCode = interrupted;
}

/** Undefined when the person left without an answer. */
async function valueFor(
  open: OpenAsk | OpenWait,
  words: readonly string[],
  { jsonValue, state }: AnswerOptions,
): Promise<unknown> {
  if (jsonValue !== undefined) return fromJson(open, jsonValue);
  const said = words.length > 0 ? words.join(" ") : await asked(open, state);
  if (said === undefined) return undefined;
  const heard = answerFrom(open, said);
  if (!heard.ok) throw new TuttiError("invalid_input", heard.message);
  return heard.value;
}

/** Nothing is a no to an approval, but only for one who was asked. */
async function asked(open: OpenAsk | OpenWait, state: string | undefined): Promise<string | undefined> {
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) {
    throw new TuttiError("usage", `say the answer: ${commandLine(state, `answer ${open.id}`)} ${hintFor(open)}`);
  }
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await reader.question(askText(open));
  } catch (thrown) {
    // Ctrl-C and Ctrl-D.
    if (thrown instanceof Error && thrown.name === "AbortError") return undefined;
    throw thrown;
  } finally {
    reader.close();
  }
}

function hintFor(open: OpenAsk | OpenWait): string {
  if (!("kind" in open)) return "TEXT, or --json-value JSON";
  if (open.kind !== "question") return "y, or n";
  return open.choices === undefined ? "TEXT" : open.choices.map((choice) => JSON.stringify(choice)).join(" | ");
}

/** A plain value, or an answer as it travels on the wire. */
function fromJson(open: OpenAsk | OpenWait, text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    throw new TuttiError("usage", `--json-value is not JSON: ${why}`, { cause: thrown });
  }
  if (!("kind" in open)) return value;
  const whole = Answer.safeParse(value);
  if (whole.success && whole.data.kind === open.kind) return whole.data;
  if (open.kind === "question") return { kind: "question", value };
  if (typeof value !== "boolean") {
    throw new TuttiError("invalid_input", `this is a matter of yes or no; give true or false`);
  }
  return open.kind === "budget" ? { kind: "budget", go_on: value } : { kind: "approval", approved: value };
}

const codes: Readonly<Record<"late" | "unknown" | "invalid", ErrorCode>> = {
  late: "conflict",
  unknown: "not_found",
  invalid: "invalid_input",
};

async function give(tutti: Tutti, open: OpenAsk | OpenWait, value: unknown): Promise<void> {
  const delivered = await deliver(tutti, open, value);
  if (delivered.accepted) return;
  const hint = delivered.code === "invalid" ? `; right would be ${hintFor(open)}` : "";
  throw new TuttiError(codes[delivered.code], printable(`${delivered.message}${hint}`));
}
