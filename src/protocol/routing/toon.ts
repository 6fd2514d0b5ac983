// Decodes TOON text: strictly first; if only a declared length is wrong, again with the actual lengths.

import { decodeStreamSync } from "@toon-format/toon";
import { excerpt, refuse, warn, type ReadNotes } from "./read-notes.ts";

/**
 * The decoder's cost grows with the square of nesting and faster than the length of a line; within these bounds its
 * cost is linear in the text.
 */
const limits = { depth: 64, line: 131_072, header: 4096, fieldGroups: 8 };

/** Returns undefined if the text was refused; the notes then have the error. */
export function decodeToon(lines: readonly string[], notes: ReadNotes): unknown {
  const ready: string[] = [];
  for (const [index, line] of lines.entries()) {
    const problem = lineProblem(line);
    if (problem !== undefined) return refuse(notes, "", `is not valid TOON: Line ${index + 1}: ${problem}`);
    // The decoder searches all blank lines for every list. Comments in their place keep the line numbers and cost nothing.
    ready.push(/\S/.test(line) ? line : "#");
  }
  try {
    return build(ready, { strict: true }, notes);
  } catch (strictly) {
    if (!isWrongLength(strictly)) return refuseThrown(notes, strictly);
    try {
      return build(ready, { strict: false }, notes);
    } catch (loosely) {
      return refuseThrown(notes, loosely);
    }
  }
}

function isWrongLength(thrown: unknown): boolean {
  return thrown instanceof Error && /Expected \d+ [\w -]+, but (?:got \d+|found more)$/.test(thrown.message);
}

function refuseThrown(notes: ReadNotes, thrown: unknown): undefined {
  return refuse(
    notes,
    "",
    `is not valid TOON: ${excerpt(thrown instanceof Error ? thrown.message : String(thrown), 200)}`,
  );
}

function lineProblem(line: string): string | undefined {
  if (line.length > limits.line) return `longer than ${limits.line} characters; write the document as JSON`;
  const indent = line.search(/[^ ]/);
  if (line.charCodeAt(indent) === 0x09 && /\S/.test(line)) return "tabs are not allowed in indentation";
  if (indent > limits.depth * 2) return `nested deeper than ${limits.depth} levels`;
  if (line.length > limits.header && hasLongHeader(line)) return `a list header is at most ${limits.header} characters`;
  if (line.includes("]{") && braceDepth(line) > limits.fieldGroups) {
    return `field groups nested deeper than ${limits.fieldGroups} levels`;
  }
  return undefined;
}

/** Whether anything but a colon follows `key[N]`. Only asked for long lines; the values after the colon may be long. */
function hasLongHeader(line: string): boolean {
  const bracket = indexOutsideQuotes(line, "[", 0);
  if (bracket === -1 || indexOutsideQuotes(line, ":", 0) < bracket) return false;
  return line[indexOutsideQuotes(line, "]", bracket) + 1] !== ":";
}

function indexOutsideQuotes(line: string, wanted: string, from: number): number {
  let quoted = false;
  for (let at = from; at < line.length; at += 1) {
    const char = line[at];
    if (char === '"') quoted = !quoted;
    else if (quoted && char === "\\") at += 1;
    else if (!quoted && char === wanted) return at;
  }
  return -1;
}

function braceDepth(line: string): number {
  let [depth, deepest] = [0, 0];
  for (let at = 0; at < line.length; at += 1) {
    if (line[at] === "{") depth += 1;
    else if (line[at] === "}") depth -= 1;
    if (depth > deepest) deepest = depth;
  }
  return deepest;
}

interface Frame {
  readonly container: unknown[] | Map<string, unknown>;
  /** The key of the container, for messages. */
  readonly name: string;
  readonly declared: number | undefined;
  key: string;
}

/**
 * Builds the value from the decoder's events. When not strict, it accepts lists of any length and warns if another length
 * was declared. A key given twice is always refused.
 */
function build(lines: readonly string[], options: { strict: boolean }, notes: ReadNotes): unknown {
  const stack: Frame[] = [];
  let root: unknown;
  const put = (value: unknown): void => {
    const top = stack.at(-1);
    if (top === undefined) root = value;
    else if (Array.isArray(top.container)) top.container.push(value);
    else top.container.set(top.key, value);
  };
  const open = (container: Frame["container"], declared?: number): void => {
    const name = stack.at(-1)?.key ?? "";
    stack.push({ container, name, declared, key: name });
  };
  const isAsWritten = numbersAsWritten(lines);
  for (const event of decodeStreamSync(lines, options)) {
    const top = stack.at(-1);
    if (event.type === "startObject") open(new Map());
    else if (event.type === "startArray") open([], event.length);
    else if (event.type === "primitive") {
      const { value } = event;
      if (typeof value === "number" && !isAsWritten(value)) {
        return refuse(notes, excerpt(top?.key ?? ""), "has a number that cannot be kept as it is; put it in quotes");
      }
      put(inOnePiece(value));
    } else if (event.type !== "key") {
      stack.pop();
      if (top !== undefined) put(closed(top, notes));
    } else if (top !== undefined && !Array.isArray(top.container)) {
      if (top.container.has(event.key)) return refuse(notes, excerpt(event.key), "is given twice");
      top.key = event.key;
    }
  }
  return root;
}

/**
 * The decoder changes most integers from 2^53 on without a word. One that was changed does not stand in the text, unless
 * the text has numbers with an exponent.
 */
function numbersAsWritten(lines: readonly string[]): (value: number) => boolean {
  let hasExponent: boolean | undefined;
  let written: ReadonlySet<string> | undefined;
  return (value) => {
    if (!Number.isInteger(value) || Number.isSafeInteger(value)) return true;
    hasExponent ??= lines.some((line) => /\d[eE][+-]?\d/.test(line));
    if (hasExponent) return true;
    written ??= new Set(lines.flatMap((line) => line.match(/-?\d{16,}/g) ?? []));
    return written.has(String(value)) || written.has(BigInt(value).toString());
  };
}

/** The decoder appends single characters, which V8 keeps as a chain. Reading one character makes it one string. */
function inOnePiece(value: unknown): unknown {
  if (typeof value === "string") value.charCodeAt(value.length >> 1);
  return value;
}

function closed({ container, declared, name }: Frame, notes: ReadNotes): unknown {
  if (!Array.isArray(container)) return Object.fromEntries(container);
  if (declared !== undefined && declared !== container.length) {
    warn(notes, `${name === "" ? "the list" : excerpt(name)}: declared ${declared}, found ${container.length}`);
  }
  return container;
}
