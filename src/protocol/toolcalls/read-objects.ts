// Reads the JSON objects of one block body: JSON.parse where it suffices, the validator where it does not.
import type { Fault } from "./findings.ts";
import { scanJson } from "../json/scan-json.ts";
import { isPlain } from "./plain-value.ts";
import { isJsonObject, type JsonObject } from "./tool-call.ts";
import { skipSpace, trimmedEnd } from "../white-space.ts";

export interface Body {
  readonly from: number;
  readonly to: number;
  /** Whether objects may follow one another. */
  readonly several: boolean;
}

export interface ObjectSink {
  /** A complete object and its position. If there is a `fault`, the object must not be used. */
  readonly object: (value: JsonObject, from: number, fault: Fault | undefined) => void;
}

export interface BodyReading {
  readonly objects: number;
  /** Position after the last complete object. */
  readonly end: number;
  /** What is wrong with the rest of the body. */
  readonly fault: Fault | undefined;
}

/** JSON.parse is slow on very deep nesting, so longer bodies are validated first. */
const largeBody = 65_536;

/** A block with more objects than this is taken for a runaway reply. */
const maxObjects = 1000;

/** Complete objects go to the sink in order. Where only one is allowed, it goes there only if nothing follows it. */
export function readObjects(text: string, body: Body, sink: ObjectSink): BodyReading {
  const from = skipSpace(text, body.from, body.to);
  const to = trimmedEnd(text, from, body.to);
  if (from === to) {
    const at = Math.min(body.from, text.length);
    return { objects: 0, end: from, fault: { code: "unterminated", at, detail: "it is empty" } };
  }
  const whole = to - from > largeBody ? undefined : parseWhole(text, from, to);
  if (whole !== undefined) {
    sink.object(whole, from, undefined);
    return { objects: 1, end: to, fault: undefined };
  }
  return readSlowly(text, { from, to, several: body.several }, sink);
}

/** The value of a body that is one plain object; undefined if the body needs the validator. */
function parseWhole(text: string, from: number, to: number): JsonObject | undefined {
  if (text.charCodeAt(from) !== 0x7b || text.charCodeAt(to - 1) !== 0x7d) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text.slice(from, to));
  } catch {
    return undefined;
  }
  return isJsonObject(value) && isPlain(value, text, { from, to }) ? value : undefined;
}

function readSlowly(text: string, { from, to, several }: Body, sink: ObjectSink): BodyReading {
  let at = from;
  let end = from;
  let objects = 0;
  while (at < to) {
    if (objects === maxObjects) {
      return { objects, end, fault: { code: "expected_single_object", at, detail: `more than ${maxObjects} follow` } };
    }
    if (text.charCodeAt(at) !== 0x7b) return { objects, end, fault: notAnObject(text, at, { to, first: at === from }) };
    const scan = scanJson(text, at, to);
    if (!scan.ok) {
      const fault: Fault = scan.eof
        ? { code: "unterminated", at: to }
        : { code: "invalid_json", at: scan.at, detail: scan.reason };
      return { objects, end, fault };
    }
    const next = skipSpace(text, scan.end, to);
    if (next < to && !several) {
      return { objects, end, fault: { code: "expected_single_object", at: next, detail: "text follows the object" } };
    }
    const value: unknown = JSON.parse(text.slice(at, scan.end));
    if (isJsonObject(value)) sink.object(value, at, inexactFault(text, scan.inexactAt));
    objects += 1;
    end = scan.end;
    at = next;
  }
  return { objects, end, fault: undefined };
}

function inexactFault(text: string, at: number): Fault | undefined {
  if (at === -1) return undefined;
  const digits = /-?\d{1,40}/y;
  digits.lastIndex = at;
  return { code: "inexact_integer", at, detail: digits.exec(text)?.[0] ?? "" };
}

/** Why the text at `at`, which does not begin with `{`, cannot be read: another value, no JSON, or a value cut short. */
function notAnObject(text: string, at: number, { to, first }: { to: number; first: boolean }): Fault {
  if (!first) return { code: "expected_single_object", at, detail: "text follows the object" };
  const scan = scanJson(text, at, to);
  if (!scan.ok) {
    return scan.eof ? { code: "unterminated", at: to } : { code: "invalid_json", at: scan.at, detail: scan.reason };
  }
  const opening = text[at] ?? "";
  const delimited =
    scan.end === to || opening === "[" || opening === '"' || ' \n\t\r"[]{},:'.includes(text[scan.end] ?? "");
  if (!delimited) return { code: "invalid_json", at: scan.end, detail: "characters follow the value" };
  const what = opening === "[" ? "an array" : opening === '"' ? "a string" : "a bare value";
  return { code: "expected_single_object", at, detail: `this one holds ${what}` };
}
