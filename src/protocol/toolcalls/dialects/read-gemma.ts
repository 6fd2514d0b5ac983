// Reads the calls of FunctionGemma and Gemma 4: `call:NAME{key:value}`, in which a token of its own stands for a quote.
import { maxDepth } from "../../json/scan-json.ts";
import { skipSpace } from "../../white-space.ts";
import type { Json } from "../tool-call.ts";
import {
  bareName,
  broken,
  type DialectReading,
  type DialectText,
  failed,
  jsonAt,
  matchAt,
  type Read,
} from "./dialect-reading.ts";
import { endsAtOpener } from "./read-json-dialects.ts";

/** The tokens of one generation of Gemma. */
export interface GemmaTokens {
  readonly quote: string;
  readonly callEnd: string;
}

interface Place {
  readonly quote: string;
  readonly depth: number;
}

const head = /\s*call:\s*([\w.:-]+)\s*(?=\{|$)/y;
const ended = "the reply ends inside it";

/** `after` is after the opening token. */
export function readGemma(source: DialectText, after: number, tokens: GemmaTokens): DialectReading | undefined {
  const { text, rules } = source;
  const name = matchAt(head, text, after);
  if (name === undefined) {
    return "call:".startsWith(text.slice(after, after + 5).trim()) && text.length - after <= 5
      ? endsAtOpener(source, "gemma")
      : undefined;
  }
  const from = after + name[0].length;
  if (from === text.length) return endsAtOpener(source, "gemma");
  const args = readObject(source, from, { quote: tokens.quote, depth: 1 });
  if (!args.ok) return broken(source, "gemma", { fault: args.fault, closer: tokens.callEnd });
  const next = skipSpace(text, args.end, text.length);
  const rest = text.slice(next, next + tokens.callEnd.length);
  const call = { name: bareName(name[1] ?? "", rules), args: args.value };
  if (rest === tokens.callEnd) {
    return { as: "calls", dialect: "gemma", calls: [call], end: next + tokens.callEnd.length };
  }
  // Servers leave out the closing token when it ends the reply.
  if (next === text.length && !source.cut) return { as: "calls", dialect: "gemma", calls: [call], end: next };
  const eof = tokens.callEnd.startsWith(rest);
  const fault = { at: next, detail: eof ? ended : "text follows its arguments", eof };
  return broken(source, "gemma", { fault, closer: tokens.callEnd });
}

const key = /([^:{}[\],<]+):/y;

function readObject(source: DialectText, at: number, { quote, depth }: Place): Read<Record<string, Json>> {
  const { text } = source;
  const entries: [string, Json][] = [];
  let next = skipSpace(text, at + 1, text.length);
  while (text[next] !== "}") {
    if (next >= text.length) return failed(text.length, ended, true);
    const name = readKey(source, next, quote);
    if (!name.ok) return name;
    const value = readValue(source, skipSpace(text, name.end, text.length), { quote, depth: depth + 1 });
    if (!value.ok) return value;
    entries.push([name.value, value.value]);
    next = skipSpace(text, value.end, text.length);
    if (text[next] === ",") next = skipSpace(text, next + 1, text.length);
    else if (next < text.length && text[next] !== "}") return failed(next, "expected `,` or `}` after a value");
  }
  return { ok: true, value: Object.fromEntries(entries), end: next + 1 };
}

function readKey(source: DialectText, at: number, quote: string): Read<string> {
  const { text } = source;
  if (text.startsWith(quote, at) || text[at] === '"') {
    const name = readValue(source, at, { quote, depth: 1 });
    if (!name.ok) return name;
    const colon = skipSpace(text, name.end, text.length);
    if (colon >= text.length) return failed(colon, ended, true);
    if (text[colon] !== ":" || typeof name.value !== "string") return failed(colon, "expected `:` after a key");
    return { ok: true, value: name.value, end: colon + 1 };
  }
  const plain = matchAt(key, text, at);
  if (plain !== undefined) return { ok: true, value: (plain[1] ?? "").trim(), end: at + plain[0].length };
  const eof = source.find(":", at) === text.length;
  return failed(at, eof ? ended : "expected a key", eof);
}

const bare = /[^,{}[\]<]+/y;

function readValue(source: DialectText, at: number, place: Place): Read<Json> {
  const { text } = source;
  const { quote, depth } = place;
  if (at >= text.length) return failed(text.length, ended, true);
  if (depth > maxDepth) return failed(at, `it nests more than ${maxDepth} levels deep`);
  if (text.startsWith(quote, at)) {
    const to = source.find(quote, at + quote.length);
    if (to === text.length) return failed(to, ended, true);
    return { ok: true, value: text.slice(at + quote.length, to), end: to + quote.length };
  }
  if (text[at] === "{") return readObject(source, at, place);
  if (text[at] === "[") return readItems(source, at, place);
  if (text[at] === '"') return jsonAt(text, at);
  const word = matchAt(bare, text, at)?.[0];
  if (word === undefined) {
    const eof = quote.startsWith(text.slice(at, at + quote.length));
    return failed(at, eof ? ended : "expected a value", eof);
  }
  const end = at + word.length;
  if (end === text.length) return failed(end, ended, true);
  const written = word.trimEnd();
  if (written === "None") return { ok: true, value: null, end };
  const read = jsonAt(written, 0);
  if (read.ok && read.end === written.length) return { ok: true, value: read.value, end };
  // A number that cannot be held exactly must not become a text.
  if (/^-?\d+$/.test(written)) return failed(at, "it holds an integer that cannot be held exactly");
  return { ok: true, value: written, end };
}

function readItems(source: DialectText, at: number, { quote, depth }: Place): Read<Json> {
  const { text } = source;
  const items: Json[] = [];
  let next = skipSpace(text, at + 1, text.length);
  while (text[next] !== "]") {
    const item = readValue(source, next, { quote, depth: depth + 1 });
    if (!item.ok) return item;
    items.push(item.value);
    next = skipSpace(text, item.end, text.length);
    if (text[next] === ",") next = skipSpace(text, next + 1, text.length);
    else if (next < text.length && text[next] !== "]") return failed(next, "expected `,` or `]` in a list");
  }
  return { ok: true, value: items, end: next + 1 };
}
