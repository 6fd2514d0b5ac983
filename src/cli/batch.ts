// Batch mode: reads one JSON object per line and writes one result per line, in order; a bad line gets an error as its result.
import { isUtf8 } from "node:buffer";

import { TuttiError } from "../protocol/error.ts";
import { inputError, inputName, openInput, tooLarge } from "./input.ts";
import { readWrittenJson } from "../protocol/json/written-json.ts";
import { writeJson } from "./terminal/screen.ts";

export type BatchRecord = Readonly<Record<string, unknown>>;

/** Returns the result for one record. A TuttiError that it throws becomes the error of that line. */
export type BatchHandler = (record: BatchRecord) => Record<string, unknown>;

/** The limit is for the decoded input. In JSON, one byte may take six (`\u0000`), and the rest of the record needs room, too. */
const lineLimit = (limit: number): number => limit * 6 + 65_536;

export interface BatchSource {
  /** Standard input when absent or `-`. */
  readonly file: string | undefined;
  readonly limit: number;
}

export async function runBatch(handler: BatchHandler, { file, limit }: BatchSource): Promise<void> {
  let number = 0;
  for await (const line of readLines(openInput(file), lineLimit(limit), inputName(file))) {
    number += 1;
    if (line !== tooLong && line.length === 0) continue;
    await writeJson(resultOf(line, { number, handler, limit }));
  }
}

interface LineContext {
  readonly number: number;
  readonly handler: BatchHandler;
  readonly limit: number;
}

function resultOf(line: Line, context: LineContext): Record<string, unknown> {
  let id: unknown = null;
  try {
    if (line === tooLong) throw tooLarge(`line ${context.number}`, context.limit);
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
  const read = readWrittenJson(line.toString("utf8"));
  if (!read.ok) {
    const problem = read.isJson ? read.problem : "is not JSON; write one JSON object per line";
    throw new TuttiError("invalid_input", `line ${number} ${problem}`);
  }
  const { value } = read;
  if (!isRecord(value)) throw new TuttiError("invalid_input", `line ${number} is not a JSON object`);
  return value;
}

export function isRecord(value: unknown): value is BatchRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The `input` of a record; throws when it is missing or too large. */
export function inputOf(record: BatchRecord, limit: number): string {
  const input = record["input"];
  if (typeof input !== "string") throw new TuttiError("invalid_input", "`input` must be a string");
  if (Buffer.byteLength(input) > limit) throw tooLarge("`input`", limit);
  return input;
}

/** Stands for a line that is longer than the limit. */
const tooLong = Symbol("too long");
type Line = Buffer | typeof tooLong;

/** Splits at line feeds. Never holds more than `limit` bytes of a line in memory. */
async function* readLines(source: AsyncIterable<Buffer>, limit: number, name: string): AsyncGenerator<Line> {
  let held: Buffer[] = [];
  let size = 0;
  const take = (): Line => {
    const line = size > limit ? tooLong : trimLine(Buffer.concat(held));
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

/** Removes spaces, tabs and carriage returns at the end, so that a blank line is empty. */
function trimLine(line: Buffer): Buffer {
  let end = line.length;
  while (end > 0 && (line[end - 1] === 32 || line[end - 1] === 9 || line[end - 1] === 13)) end -= 1;
  return line.subarray(0, end);
}
