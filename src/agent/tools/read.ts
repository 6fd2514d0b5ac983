// The tool `read`: shows lines of a text file of the workspace, as many as fit; of other files it gives only the size.

import type { FileHandle } from "node:fs/promises";

import { z } from "zod";

import { TuttiError } from "../../protocol/error.ts";
import { isBinary, sampleBytes } from "../workspace/text-file.ts";
import { stepTool } from "./tool.ts";
import { readOffLimits } from "../workspace/off-limits.ts";
import { readingFile, withFile } from "../workspace/workspace-file.ts";

/** How much one call shows: less than the preview limit of results, so that files are paged by lines and not by characters. */
const shownBytes = 24_000;
const lineBytes = 4_000;
/** How far into a file one call searches for a line. */
const scanBytes = 256 * 2 ** 20;
const chunkBytes = 2 ** 20;

export const read = stepTool({
  name: "read",
  description:
    "Shows a text file, from a line on. A relative path begins at the first folder you may touch. " +
    "The first line of the answer, in brackets, tells which lines follow and where to go on.",
  input: () =>
    z.strictObject({
      path: z.string().min(1),
      from: z.int().positive().nullish().describe("The first line; 1 when absent."),
      lines: z.int().positive().nullish().describe("How many at most; as many as fit when absent."),
    }),
  effects: ["read"],
  repeatable: true,
  run: ({ path, from, lines }, { rights, step, offLimits }) =>
    withFile(path, { roots: rights.roots, offLimits: readOffLimits(offLimits), to: "read" }, (file) =>
      readingFile(file, async (handle, stats) => {
        const sample = await firstBytes(handle);
        if (isBinary(sample)) return `[${file.path} is not text: ${stats.size} bytes of other data]`;
        const range = { from: from ?? 1, count: lines ?? Infinity, signal: step.signal };
        return render(file.path, range, await readLines(handle, range));
      }),
    ),
});

async function firstBytes(handle: FileHandle): Promise<Uint8Array> {
  const buffer = Buffer.alloc(sampleBytes);
  const { bytesRead } = await handle.read(buffer, 0, sampleBytes, 0);
  return buffer.subarray(0, bytesRead);
}

interface LineRange {
  readonly from: number;
  readonly count: number;
  readonly signal: AbortSignal;
}

interface ReadLines {
  readonly lines: readonly string[];
  /** How many lines were read, shown or not. */
  readonly seen: number;
  /** Whether the end of the file was reached. */
  readonly ended: boolean;
}

/** Reads the file in chunks and keeps only the lines to show, so a file may have any size. */
async function readLines(handle: FileHandle, { from, count, signal }: LineRange): Promise<ReadLines> {
  const lines: string[] = [];
  const buffer = Buffer.alloc(chunkBytes);
  let seen = 0;
  let room = shownBytes;
  let full = false;
  /** Of the current line: the bytes to show, and its length in bytes. */
  let kept: Buffer[] = [];
  let length = 0;
  const isWanted = (): boolean => !full && seen + 1 >= from;
  const add = (piece: Buffer): void => {
    if (isWanted() && length < lineBytes) kept.push(Buffer.from(piece.subarray(0, lineBytes - length)));
    length += piece.length;
  };
  const endLine = (): void => {
    if (isWanted()) {
      const line = lineText(Buffer.concat(kept), length);
      room -= Buffer.byteLength(line) + 1;
      if (room >= 0) lines.push(line);
      full = room < 0 || lines.length >= count;
    }
    seen += 1;
    kept = [];
    length = 0;
  };
  for (let at = 0; at < scanBytes;) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, 0, chunkBytes, at);
    if (bytesRead === 0) {
      if (length > 0) endLine();
      return { lines, seen, ended: true };
    }
    const chunk = buffer.subarray(0, bytesRead);
    let begin = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, begin)) {
      add(chunk.subarray(begin, end));
      endLine();
      if (full && seen > from + lines.length + countAhead) return { lines, seen, ended: false };
      begin = end + 1;
    }
    add(chunk.subarray(begin));
    at += bytesRead;
  }
  return { lines, seen, ended: false };
}

/** How many lines are counted after the last one shown, so that most files get a total and huge ones are not read to the end. */
const countAhead = 1_000_000;

function lineText(bytes: Buffer, length: number): string {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  if (length > bytes.length) return `${withoutCutCharacter(text)} [… ${length} bytes in this line …]`;
  return text.endsWith("\r") ? text.slice(0, -1) : text;
}

/** Without the replacement characters at the end. A pattern for them takes the square of the length of a line full of them. */
function withoutCutCharacter(text: string): string {
  let end = text.length;
  while (text.charCodeAt(end - 1) === 0xfffd) end -= 1;
  return text.slice(0, end);
}

function render(path: string, { from }: LineRange, { lines, seen, ended }: ReadLines): string {
  if (lines.length === 0) {
    if (seen === 0 && ended) return `[${path} is empty]`;
    if (ended) return `[${path} has only ${seen} lines]`;
    throw new TuttiError(
      "too_large",
      `line ${from} of ${path} is further into the file than read can go; use run instead`,
    );
  }
  const last = from + lines.length - 1;
  const total = ended ? `${seen}` : `more than ${Math.max(seen, last)}`;
  const next = ended && last === seen ? "" : `; go on from ${last + 1}`;
  return `[${path}, lines ${from} to ${last} of ${total}${next}]\n${lines.join("\n")}`;
}
