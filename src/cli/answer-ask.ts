// `tutti answer`: answers a question, an approval or a budget ask, or gives the result of a client's own tool.
import { createInterface } from "node:readline/promises";

import type { Looking, Opener, Tutti } from "../client/client.ts";
import type { OpenAsk, OpenWait } from "../protocol/api/work.ts";
import { type ErrorCode, TuttiError } from "../protocol/error.ts";
import { Answer } from "../protocol/ask.ts";
import { answerFrom, askText } from "./answer.ts";
import { openOf } from "./asks.ts";
import { deliver } from "./deliver.ts";
import { writeLine } from "./output.ts";
import { printable } from "./printable.ts";
import { throughDaemon } from "./reach.ts";

export interface AnswerOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly jsonValue?: string;
}

export async function answerCommand(
  opener: Opener,
  id: string,
  { words, options }: { readonly words: readonly string[]; readonly options: AnswerOptions },
): Promise<void> {
  if (options.jsonValue !== undefined && words.length > 0) {
    throw new TuttiError("usage", "give the answer as text or with --json-value, not both");
  }
  const find = (looking: Looking): Promise<OpenAsk | OpenWait> => findOpen(looking, id);
  await throughDaemon(opener, { state: options.state, json: options.json, check: find }, async (tutti) => {
    const open = await find(tutti);
    await give(tutti, open, await valueFor(open, words, options.jsonValue));
    await writeLine(options.json === true ? JSON.stringify({ ask: id, accepted: true }) : `${id} is answered`);
  });
}

async function findOpen(looking: Looking, id: string): Promise<OpenAsk | OpenWait> {
  const { asks, waits } = await openOf(looking);
  const found = [...asks, ...waits].find((open) => open.id === id);
  if (found !== undefined) return found;
  const message = `${id} is not open: it was answered, has expired, or never was; \`tutti asks\` lists what is`;
  throw new TuttiError("not_found", message);
}

async function valueFor(
  open: OpenAsk | OpenWait,
  words: readonly string[],
  jsonValue: string | undefined,
): Promise<unknown> {
  if (jsonValue !== undefined) return fromJson(open, jsonValue);
  const said = words.length > 0 ? words.join(" ") : await asked(open);
  const heard = answerFrom(open, said);
  if (!heard.ok) throw new TuttiError("invalid_input", heard.message);
  return heard.value;
}

/** Nothing is a no to an approval, but only for one who was asked. */
async function asked(open: OpenAsk | OpenWait): Promise<string> {
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) {
    throw new TuttiError("usage", `say the answer: tutti answer ${open.id} ${hintFor(open)}`);
  }
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await reader.question(askText(open));
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
