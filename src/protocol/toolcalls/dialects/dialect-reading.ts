// What reading a call in a model's own dialect gives, and the steps that the readers of all dialects share.
import { finder, type Finder } from "../fences.ts";
import { type CallRules, readCall } from "../read-call.ts";
import { isJsonObject, type Json, type JsonObject, type ModelDialect } from "../tool-call.ts";
import { scanJson } from "../../json/scan-json.ts";
import { skipSpace } from "../../white-space.ts";

export interface DialectCall {
  readonly name: string;
  readonly args: JsonObject;
}

/** Why a call could not be read. `eof` says that the reply ended inside the call. */
export interface DialectFault {
  readonly at: number;
  readonly detail: string;
  readonly eof: boolean;
}

export type DialectReading =
  | {
      readonly as: "calls";
      readonly dialect: ModelDialect;
      readonly calls: readonly DialectCall[];
      readonly end: number;
    }
  | { readonly as: "broken"; readonly dialect: ModelDialect; readonly fault: DialectFault; readonly end: number }
  /** Text of the model to itself, at [from, to). */
  | {
      readonly as: "reasoning";
      readonly dialect: ModelDialect;
      readonly from: number;
      readonly to: number;
      readonly end: number;
    }
  /** Tokens of the chat template that say nothing. */
  | { readonly as: "markup"; readonly dialect: ModelDialect; readonly end: number };

/** The JSON Schemas of the tools' arguments, by the tools' names. */
export type ToolSchemas = ReadonlyMap<string, JsonObject>;

/** A reply whose calls in model dialects are being read, from its beginning to its end. */
export interface DialectText {
  readonly text: string;
  readonly rules: CallRules;
  readonly schemas: ToolSchemas | undefined;
  /** The provider says that the reply was cut off. */
  readonly cut: boolean;
  /** The position of the next needle, or the text's length. For one needle, `from` must not go backwards. */
  readonly find: (needle: string, from: number) => number;
  /** A message of the harmony format is open, so its end tokens are markup. */
  harmony: boolean;
}

export function dialectText(
  text: string,
  options: { readonly rules: CallRules; readonly schemas: ToolSchemas | undefined; readonly cut: boolean },
): DialectText {
  const finders = new Map<string, Finder>();
  return {
    text,
    ...options,
    harmony: false,
    find(needle, from) {
      let find = finders.get(needle);
      if (find === undefined) {
        find = finder(text, needle);
        finders.set(needle, find);
      }
      return find(from);
    },
  };
}

export const cutFault = "the reply was cut off in it";

/** A call that could not be read. It is passed over up to its closing tag, so that nothing inside it is read. */
export function broken(
  source: DialectText,
  dialect: ModelDialect,
  { fault, closer }: { readonly fault: DialectFault; readonly closer?: string },
): DialectReading {
  const { text } = source;
  if (fault.eof || closer === undefined) return { as: "broken", dialect, fault, end: text.length };
  const found = source.find(closer, fault.at);
  return { as: "broken", dialect, fault, end: Math.min(found + closer.length, text.length) };
}

export type Read<T> =
  | { readonly ok: true; readonly value: T; readonly end: number }
  | { readonly ok: false; readonly fault: DialectFault };

export function failed(at: number, detail: string, eof = false): { readonly ok: false; readonly fault: DialectFault } {
  return { ok: false, fault: { at, detail, eof } };
}

/** The JSON value that begins at or after `at`. */
export function jsonAt(text: string, at: number): Read<Json> {
  const scan = scanJson(text, at, text.length);
  if (!scan.ok) return failed(scan.at, scan.eof ? "the reply ends inside it" : scan.reason, scan.eof);
  if (scan.inexactAt !== -1) {
    return failed(scan.inexactAt, "it holds an integer that cannot be held exactly; pass it as a string");
  }
  const value: Json = JSON.parse(text.slice(at, scan.end));
  return { ok: true, value, end: scan.end };
}

export function objectAt(text: string, at: number): Read<JsonObject> {
  if (at >= text.length) return failed(at, "the reply ends inside it", true);
  const read = jsonAt(text, at);
  if (!read.ok) return read;
  if (!isJsonObject(read.value)) return failed(at, "its arguments must be a JSON object");
  return { ok: true, value: read.value, end: read.end };
}

/** Call objects that follow one another from `at` on, each alone or in a list; `separators` may stand between them. */
export function callObjectsAt(source: DialectText, at: number, separators: string): Read<DialectCall[]> {
  const { text, rules } = source;
  const calls: DialectCall[] = [];
  let next = at;
  let end = at;
  do {
    const read = jsonAt(text, next);
    if (!read.ok) return read;
    const items: readonly Json[] = Array.isArray(read.value) ? read.value : [read.value];
    for (const item of items) {
      const call = isJsonObject(item) ? callOf(item, rules) : "it holds something that is no call object";
      if (typeof call === "string") return failed(next, call);
      calls.push(call);
    }
    end = read.end;
    next = skipSpace(text, end, text.length);
    if (next < text.length && separators.includes(text.charAt(next))) {
      end = next + 1;
      next = skipSpace(text, end, text.length);
    }
  } while (text[next] === "{");
  return calls.length === 0 ? failed(at, "it holds no call") : { ok: true, value: calls, end };
}

/** A call from an object with a name and arguments, or why it is none. */
function callOf(object: JsonObject, rules: CallRules): DialectCall | string {
  const inner = object["function"];
  const call = readCall(withParsedArgs(isJsonObject(inner) ? inner : object, rules), rules);
  if (call.ok) return { name: bareName(call.name, rules), args: call.args };
  if (call.code === "missing_name") return "it has no name";
  return call.code === "inline_args" ? "its arguments stand beside its name" : "its arguments must be a JSON object";
}

/** Some models write the arguments as a string that holds JSON. */
function withParsedArgs(object: JsonObject, { dialect }: CallRules): JsonObject {
  const key = dialect.argsKeys.find((each) => typeof object[each] === "string");
  const written = key === undefined ? undefined : object[key];
  if (key === undefined || typeof written !== "string") return object;
  const read = jsonAt(written, 0);
  const whole = read.ok && skipSpace(written, read.end, written.length) === written.length;
  return whole && isJsonObject(read.value) ? { ...object, [key]: read.value } : object;
}

/** The name without the namespace that some templates put before it, unless a tool is really called so. */
export function bareName(written: string, { tools }: CallRules): string {
  if (tools?.has(written) === true) return written;
  return /^(?:functions|default_api)\.(.+)$/s.exec(written)?.[1] ?? written;
}

/** Where a sticky pattern that must match at `at` ends, with its groups; undefined if it does not match. */
export function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

/** The end of a call after its JSON: past its closing token, or the end of a reply that was not cut. */
export function closedAt(source: DialectText, at: number, closer: string): Read<undefined> {
  const { text, cut } = source;
  const next = skipSpace(text, at, text.length);
  if (text.startsWith(closer, next)) return { ok: true, value: undefined, end: next + closer.length };
  if (next < text.length) {
    const cutCloser = closer.startsWith(text.slice(next, next + closer.length));
    return failed(next, cutCloser ? "the reply ends inside it" : "text follows its JSON object", cutCloser);
  }
  return cut ? failed(next, cutFault, true) : { ok: true, value: undefined, end: text.length };
}
