// A message as a line of the log holds it: alone, or as `message` beside what else its step gave. What follows from the line is
// not written, and is put back when the line is read.

import { messageId, type RunPosition } from "../core/message-id.ts";
import { CompleteMessage } from "../protocol/task/message.ts";

/** The line that a message stands on, as far as the message follows from it. */
export interface MessageLine extends RunPosition {
  readonly key: string;
  readonly at: number;
}

/** A message that is not older than this gives its line its time, so that the time is written once. */
const justMadeMs = 1_000;

/** The time of the line that the message is recorded on. */
export function lineTime(value: unknown, now: number): number {
  const made = heldIn(value)?.["created_at"];
  return typeof made === "number" && made <= now && made > now - justMadeMs ? made : now;
}

/** What is written of the message, or of an outcome that has it. */
export function shortMessage(value: unknown, line: MessageLine): unknown {
  const held = heldIn(value);
  if (held === undefined) return value;
  const { id, name, created_at, ...rest } = held;
  const short: Record<string, unknown> = {};
  if (id !== messageId(line, line.key)) short["id"] = id;
  if (name !== null) short["name"] = name;
  Object.assign(short, rest);
  if (created_at !== line.at) short["created_at"] = created_at;
  return held === value ? short : { ...Object(value), message: short, ...shortUsage(value) };
}

/** What was written, as it was before. Lines of earlier versions have everything in them. */
export function wholeMessage(value: unknown, line: MessageLine): unknown {
  const held = heldIn(value);
  if (held === undefined) return value;
  const { id = messageId(line, line.key), name = null, role, parts, created_at = line.at, ...rest } = held;
  // In the order of the schema: a request to the model must be the same, to the letter, after a restart.
  const message = { id, name, role, parts, created_at, ...rest };
  return held === value ? message : { ...Object(value), message, ...wholeUsage(value) };
}

/** The message on the line. */
export function messageIn(body: string | null, line: MessageLine): CompleteMessage {
  return CompleteMessage.parse(heldIn(wholeMessage(JSON.parse(body ?? "null"), line)));
}

type Fields = Readonly<Record<string, unknown>>;

function heldIn(value: unknown): Fields | undefined {
  if (!isFields(value)) return undefined;
  return "message" in value ? (isFields(value["message"]) ? value["message"] : undefined) : value;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const usageFields = ["input_tokens", "output_tokens", "money_micro_usd"];

/** The numbers of the usage in the order of its fields. */
function shortUsage(value: unknown): { usage?: unknown } {
  const { usage }: { usage?: unknown } = Object(value);
  if (!isFields(usage) || Object.keys(usage).join() !== usageFields.join()) return {};
  return { usage: Object.values(usage) };
}

function wholeUsage(value: unknown): { usage?: unknown } {
  const { usage }: { usage?: unknown } = Object(value);
  if (!Array.isArray(usage)) return {};
  return { usage: Object.fromEntries(usageFields.map((name, at) => [name, usage[at]])) };
}
