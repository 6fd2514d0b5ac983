// Reads calls written as in Python, with names for all arguments and plain values only: `[search(query="x", limit=3)]`.
import { maxDepth } from "../../json/scan-json.ts";
import { skipSpace } from "../../white-space.ts";
import type { Json, JsonObject } from "../tool-call.ts";
import { type DialectCall, failed, matchAt, type Read } from "./dialect-reading.ts";

export interface PythonForm {
  /** The calls stand in a list; otherwise they are statements, each of which may be inside a `print`. */
  readonly list: boolean;
  /** Where the text ends, if not at its end. */
  readonly to?: number;
}

const ended = "the reply ends inside it";

/** `at` is on the bracket of the list, or on the first statement. */
export function readPythonCalls(text: string, at: number, form: PythonForm): Read<DialectCall[]> {
  const to = form.to ?? text.length;
  return form.list ? readList(text, at, to) : readStatements(text, at, to);
}

function readList(text: string, at: number, to: number): Read<DialectCall[]> {
  const calls: DialectCall[] = [];
  let next = skipSpace(text, at + 1, to);
  while (text[next] !== "]" || next >= to) {
    const call = readCallAt(text, next, to);
    if (!call.ok) return call;
    calls.push(call.value);
    next = skipSpace(text, call.end, to);
    if (next >= to) return failed(to, ended, true);
    if (text[next] === ",") next = skipSpace(text, next + 1, to);
    else if (text[next] !== "]") return failed(next, "expected `,` or `]` after a call");
  }
  return { ok: true, value: calls, end: next + 1 };
}

const print = /print\s*\(\s*(?=[A-Za-z_])/y;

function readStatements(text: string, at: number, to: number): Read<DialectCall[]> {
  const calls: DialectCall[] = [];
  let next = at;
  let end = at;
  for (;;) {
    const wrapper = matchAt(print, text, next);
    const call = readCallAt(text, next + (wrapper?.[0].length ?? 0), to);
    if (!call.ok) return call;
    calls.push(call.value);
    end = call.end;
    if (wrapper !== undefined) {
      const close = skipSpace(text, end, to);
      if (close >= to) return failed(to, ended, true);
      if (text[close] !== ")") return failed(close, "expected `)` after a call");
      end = close + 1;
    }
    next = skipSpace(text, end, to);
    if (text[next] === ";") next = skipSpace(text, next + 1, to);
    // Only another call makes another statement.
    if (next >= to || matchAt(/[A-Za-z_][\w.]*\(/y, text, next) === undefined) break;
  }
  return { ok: true, value: calls, end };
}

const callName = /([A-Za-z_][\w.-]*)\s*\(/y;
const keyword = /([A-Za-z_]\w*)\s*=(?!=)\s*/y;
const unfinishedName = /[A-Za-z_][\w.-]*\s*/y;

function readCallAt(text: string, at: number, to: number): Read<DialectCall> {
  const head = matchAt(callName, text, at);
  if (head === undefined || at + head[0].length > to) {
    return failed(at, "expected a call", endsWith(unfinishedName, text, { at, to }));
  }
  const entries: [string, Json][] = [];
  let next = skipSpace(text, at + head[0].length, to);
  while (text[next] !== ")" || next >= to) {
    const key = matchAt(keyword, text, next);
    if (key === undefined) {
      return failed(next, "its arguments need names", endsWith(unfinishedName, text, { at: next, to }));
    }
    const value = readValue(text, next + key[0].length, { to, depth: 1 });
    if (!value.ok) return value;
    entries.push([key[1] ?? "", value.value]);
    next = skipSpace(text, value.end, to);
    if (next >= to) return failed(to, ended, true);
    if (text[next] === ",") next = skipSpace(text, next + 1, to);
    else if (text[next] !== ")") return failed(next, "expected `,` or `)` after an argument");
  }
  const args: JsonObject = Object.fromEntries(entries);
  return { ok: true, value: { name: head[1] ?? "", args }, end: next + 1 };
}

/** Whether the text ends in the middle of what the pattern matches. */
function endsWith(pattern: RegExp, text: string, { at, to }: { readonly at: number; readonly to: number }): boolean {
  return at >= to || at + (matchAt(pattern, text, at)?.[0].length ?? -1) >= to;
}

/** The list or the dictionary that a text is, as Python prints it; undefined if the text is none. */
export function readPythonContainer(text: string): Json | undefined {
  if (text[0] !== "[" && text[0] !== "{") return undefined;
  const read = readValue(text, 0, { to: text.length, depth: 1 });
  return read.ok && read.end === text.length ? read.value : undefined;
}

interface ValuePlace {
  readonly to: number;
  readonly depth: number;
}

const number = /[-+]?\d[\d_]*(?:\.\d*)?(?:[eE][-+]?\d+)?/y;
const word = /[A-Za-z]+/y;
const words: ReadonlyMap<string, Json> = new Map<string, Json>([
  ["True", true],
  ["False", false],
  ["None", null],
  ["true", true],
  ["false", false],
  ["null", null],
]);

function readValue(text: string, at: number, place: ValuePlace): Read<Json> {
  const { to, depth } = place;
  if (at >= to) return failed(to, ended, true);
  if (depth > maxDepth) return failed(at, `it nests more than ${maxDepth} levels deep`);
  const first = text.charAt(at);
  if (first === '"' || first === "'") return readString(text, at, to);
  if (first === "[" || first === "(") return readItems(text, at, place);
  if (first === "{") return readDictionary(text, at, place);
  const digits = matchAt(number, text, at)?.[0];
  if (digits !== undefined) {
    if (at + digits.length >= to) return failed(to, ended, true);
    const value = Number(digits.replaceAll("_", ""));
    const exact = Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
    return exact
      ? { ok: true, value, end: at + digits.length }
      : failed(at, "it holds a number that cannot be held exactly; pass it as a string");
  }
  const name = matchAt(word, text, at)?.[0] ?? "";
  const value = words.get(name);
  if (value !== undefined) return { ok: true, value, end: at + name.length };
  return failed(at, "its arguments must be plain values", name !== "" && at + name.length >= to);
}

function readItems(text: string, at: number, { to, depth }: ValuePlace): Read<Json> {
  const closer = text[at] === "[" ? "]" : ")";
  const items: Json[] = [];
  let next = skipSpace(text, at + 1, to);
  while (text[next] !== closer || next >= to) {
    const item = readValue(text, next, { to, depth: depth + 1 });
    if (!item.ok) return item;
    items.push(item.value);
    next = skipSpace(text, item.end, to);
    if (next >= to) return failed(to, ended, true);
    if (text[next] === ",") next = skipSpace(text, next + 1, to);
    else if (text[next] !== closer) return failed(next, `expected \`,\` or \`${closer}\` in a list`);
  }
  return { ok: true, value: items, end: next + 1 };
}

function readDictionary(text: string, at: number, { to, depth }: ValuePlace): Read<Json> {
  const entries: [string, Json][] = [];
  let next = skipSpace(text, at + 1, to);
  while (text[next] !== "}" || next >= to) {
    if (next >= to) return failed(to, ended, true);
    const key = text[next] === '"' || text[next] === "'" ? readString(text, next, to) : undefined;
    if (key === undefined) return failed(next, "expected a key in quotes");
    if (!key.ok) return key;
    next = skipSpace(text, key.end, to);
    if (next >= to) return failed(to, ended, true);
    if (text[next] !== ":") return failed(next, "expected `:` after a key");
    const value = readValue(text, skipSpace(text, next + 1, to), { to, depth: depth + 1 });
    if (!value.ok) return value;
    entries.push([key.value, value.value]);
    next = skipSpace(text, value.end, to);
    if (next >= to) return failed(to, ended, true);
    if (text[next] === ",") next = skipSpace(text, next + 1, to);
    else if (text[next] !== "}") return failed(next, "expected `,` or `}` in an object");
  }
  return { ok: true, value: Object.fromEntries(entries), end: next + 1 };
}

/** A string in single, double or triple quotes. Models write line breaks into it that Python would refuse. */
function readString(text: string, at: number, to: number): Read<string> {
  const mark = text.charAt(at);
  const triple = mark.repeat(3);
  const quote = text.startsWith(triple, at) ? triple : mark;
  const parts: string[] = [];
  let from = at + quote.length;
  let next = from;
  while (next < to) {
    const character = text.charAt(next);
    if (character === mark && text.startsWith(quote, next)) {
      parts.push(text.slice(from, next));
      const value = parts.join("");
      if (!value.isWellFormed()) return failed(at, "a string holds half of a surrogate pair");
      return { ok: true, value, end: next + quote.length };
    }
    if (character !== "\\") {
      next += 1;
      continue;
    }
    parts.push(text.slice(from, next));
    const escape = readEscape(text, next);
    parts.push(escape.value);
    next = escape.end;
    from = next;
  }
  return failed(to, ended, true);
}

const simpleEscapes: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["r", "\r"],
  ["b", "\b"],
  ["f", "\f"],
  ["v", "\v"],
  ["\\", "\\"],
  ["'", "'"],
  ['"', '"'],
  ["\n", ""],
]);
const codeEscape = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U(00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4}))/y;

/** `at` is on the backslash. As in Python, an unknown escape stays as it is written. */
function readEscape(text: string, at: number): { readonly value: string; readonly end: number } {
  const simple = simpleEscapes.get(text.charAt(at + 1));
  if (simple !== undefined) return { value: simple, end: at + 2 };
  const code = matchAt(codeEscape, text, at);
  if (code === undefined) return { value: text.slice(at, at + 2), end: at + 2 };
  const digits = code[1] ?? code[2] ?? code[3] ?? "0";
  const value = Number.parseInt(digits, 16);
  return {
    value: code[2] === undefined ? String.fromCodePoint(value) : String.fromCharCode(value),
    end: at + code[0].length,
  };
}
