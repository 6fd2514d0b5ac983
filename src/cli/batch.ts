// Batch mode: one JSON object per line in, one per line out, in order; a bad line gets an error line and the batch goes on.
import { isUtf8 } from "node:buffer";

import { TuttiError } from "../protocol/error.ts";
import { inputError, nameOf, openInput, tooLarge } from "./input.ts";
import { writeLine } from "./terminal/output.ts";

export type BatchRecord = Readonly<Record<string, unknown>>;

/** What a command makes of one record; a thrown TuttiError becomes that line's error. */
export type BatchHandler = (record: BatchRecord) => Record<string, unknown>;

/** A limit on the decoded input allows this much for its longest JSON spelling (`\u0000`) and the rest of the line. */
const lineLimit = (limit: number): number => limit * 6 + 65_536;

export interface BatchSource {
  /** Standard input when absent or `-`. */
  readonly file: string | undefined;
  readonly limit: number;
}

export async function runBatch(handler: BatchHandler, { file, limit }: BatchSource): Promise<void> {
  let number = 0;
  for await (const line of readLines(openInput(file), lineLimit(limit), nameOf(file))) {
    number += 1;
    if (line !== "over" && line.length === 0) continue;
    await writeLine(JSON.stringify(answer(line, { number, handler, limit })));
  }
}

interface LineContext {
  readonly number: number;
  readonly handler: BatchHandler;
  readonly limit: number;
}

function answer(line: Buffer | "over", context: LineContext): Record<string, unknown> {
  let id: unknown = null;
  try {
    if (line === "over") throw tooLarge(`line ${context.number}`, context.limit);
    const record = parseRecord(line, context.number);
    id = record["id"] ?? null;
    return { id, ...context.handler(record) };
  } catch (thrown) {
    if (thrown instanceof TuttiError) return { id, error: thrown.message };
    throw thrown;
  }
}

const byteOrderMark = Buffer.from("\ufeff");

function parseRecord(line: Buffer, number: number): BatchRecord {
  if (number === 1 && line.subarray(0, 3).equals(byteOrderMark)) return parseRecord(line.subarray(3), number);
  if (!isUtf8(line)) throw new TuttiError("invalid_input", `line ${number} is not UTF-8 text`);
  let value: unknown;
  try {
    value = JSON.parse(line.toString("utf8"));
  } catch (thrown) {
    throw new TuttiError("invalid_input", `line ${number} is not JSON; write one JSON object per line`, {
      cause: thrown,
    });
  }
  if (!isRecord(value)) throw new TuttiError("invalid_input", `line ${number} is not a JSON object`);
  return value;
}

export function isRecord(value: unknown): value is BatchRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The `input` of a record, under the limit. */
export function inputOf(record: BatchRecord, limit: number): string {
  const input = record["input"];
  if (typeof input !== "string") throw new TuttiError("invalid_input", "`input` must be a string");
  if (Buffer.byteLength(input) > limit) throw tooLarge("`input`", limit);
  return input;
}

/** Splits at LF without ever holding more than `limit` bytes of one line; a longer line comes out as "over". */
async function* readLines(source: AsyncIterable<Buffer>, limit: number, name: string): AsyncGenerator<Buffer | "over"> {
  let held: Buffer[] = [];
  let size = 0;
  const take = (): Buffer | "over" => {
    const line = size > limit ? "over" : trimLine(Buffer.concat(held));
    held = [];
    size = 0;
    return line;
  };
  const hold = (part: Buffer): void => {
    size += part.length;
    if (size > limit) held = [];
    else held.push(part);
  };
  try {
    for await (const chunk of source) {
      let from = 0;
      for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
        hold(chunk.subarray(from, end));
        from = end + 1;
        yield take();
      }
      if (from < chunk.length) hold(chunk.subarray(from));
    }
  } catch (thrown) {
    throw inputError(name, thrown);
  }
  if (size > 0) yield take();
}

/** Drops spaces, tabs and CR at the end, so that a blank line is an empty one. */
function trimLine(line: Buffer): Buffer {
  let end = line.length;
  while (end > 0 && (line[end - 1] === 32 || line[end - 1] === 9 || line[end - 1] === 13)) end -= 1;
  return line.subarray(0, end);
}
