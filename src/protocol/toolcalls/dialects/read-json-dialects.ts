// Reads the dialects whose arguments are JSON: Hermes, MiniMax M1, Llama, Mistral, Kimi K2, and DeepSeek V3 and V3.1.
import type { ModelDialect } from "../tool-call.ts";
import { skipSpace } from "../../white-space.ts";
import {
  bareName,
  broken,
  callObjectsAt,
  closedAt,
  cutFault,
  type DialectCall,
  type DialectReading,
  type DialectText,
  failed,
  matchAt,
  objectAt,
  type Read,
} from "./dialect-reading.ts";
import { readPythonCalls } from "./python-calls.ts";

/** Call objects between two tags; `at` is where the first object begins. */
export function readTaggedObjects(
  source: DialectText,
  at: number,
  { dialect, closer }: { readonly dialect: ModelDialect; readonly closer: string },
): DialectReading {
  const objects = callObjectsAt(source, at, ",");
  if (!objects.ok) return broken(source, dialect, { fault: objects.fault, closer });
  const closed = closedAt(source, objects.end, closer);
  if (!closed.ok) return broken(source, dialect, { fault: closed.fault, closer });
  return { as: "calls", dialect, calls: objects.value, end: closed.end };
}

/** After `<|python_tag|>`: call objects with semicolons between them, or calls written as in Python. */
export function readPythonTag(source: DialectText, after: number): DialectReading | undefined {
  const { text } = source;
  const at = skipSpace(text, after, text.length);
  if (at === text.length) return endsAtOpener(source, "llama");
  if (text[at] === "{") {
    const objects = callObjectsAt(source, at, ";");
    if (!objects.ok) return broken(source, "llama", { fault: objects.fault });
    return unclosed(source, "llama", objects);
  }
  if (matchAt(/[A-Za-z_][\w.]*\(/y, text, at) === undefined) return undefined;
  const calls = readPythonCalls(text, at, { list: false });
  if (!calls.ok) return broken(source, "llama", { fault: calls.fault });
  const named = calls.value.map(({ name, args }) => ({ name: name.replace(/\.call$/, ""), args }));
  return unclosed(source, "llama", { value: named, end: calls.end });
}

const mistralHead = /([\w.:-]+)(?:\[CALL_ID\][\w-]*)?(?:\[ARGS\])?\s*(?=\{|$)/y;

const cutMistralHead = /[\w.:-]+\[[\w[\]-]*$/y;

/** After `[TOOL_CALLS]`: a list of call objects, or a name and its arguments. */
export function readMistral(source: DialectText, after: number): DialectReading | undefined {
  const { text, rules } = source;
  const at = skipSpace(text, after, text.length);
  if (at === text.length) return endsAtOpener(source, "mistral");
  if (text[at] === "[" || text[at] === "{") {
    const objects = callObjectsAt(source, at, ",");
    if (!objects.ok) return broken(source, "mistral", { fault: objects.fault });
    return { as: "calls", dialect: "mistral", calls: objects.value, end: objects.end };
  }
  const head = matchAt(mistralHead, text, at);
  if (head === undefined) return matchAt(cutMistralHead, text, at) && endsAtOpener(source, "mistral");
  const args = objectAt(text, at + head[0].length);
  if (!args.ok) return broken(source, "mistral", { fault: args.fault });
  const call = { name: bareName(head[1] ?? "", rules), args: args.value };
  return unclosed(source, "mistral", { value: [call], end: args.end });
}

/** Calls without a closing token. Where a reply was cut right after them, they may lack something. */
function unclosed(
  source: DialectText,
  dialect: ModelDialect,
  { value: calls, end }: { readonly value: readonly DialectCall[]; readonly end: number },
): DialectReading {
  const { text, cut } = source;
  if (!cut || skipSpace(text, end, text.length) < text.length) return { as: "calls", dialect, calls, end };
  return broken(source, dialect, { fault: { at: text.length, detail: cutFault, eof: true } });
}

/** A reply that ends right after the opening token of a call was cut there. */
export function endsAtOpener(source: DialectText, dialect: ModelDialect): DialectReading {
  const fault = { at: source.text.length, detail: "the reply ends inside it", eof: true };
  return broken(source, dialect, { fault });
}

const kimiSectionEnd = /\s*<\|tool_calls?_section_end\|>/y;
const kimiHead = /\s*([^<\s]+)\s*<\|tool_call_argument_begin\|>\s*/y;
const kimiCallEnd = "<|tool_call_end|>";

/** `at` is on the opening token of the section, or of the first call where the model left that out. */
export function readKimi(source: DialectText, at: number): DialectReading | undefined {
  return readSection(source, at, {
    dialect: "kimi",
    sectionBegin: /<\|tool_calls?_section_begin\|>/y,
    sectionEnd: kimiSectionEnd,
    callBegin: /\s*<\|tool_call_begin\|>/y,
    callEnd: kimiCallEnd,
    readCall(from) {
      const { text, rules } = source;
      const head = matchAt(kimiHead, text, from);
      if (head === undefined) {
        const eof = source.find("<|tool_call_argument_begin|>", from) === text.length;
        return failed(
          from,
          eof ? "the reply ends inside it" : "its head is not `name<|tool_call_argument_begin|>`",
          eof,
        );
      }
      const args = objectAt(text, from + head[0].length);
      if (!args.ok) return args;
      // The id of a call is `functions.NAME:INDEX`.
      const name = bareName((head[1] ?? "").replace(/:\d+$/, ""), rules);
      return { ok: true, value: { name, args: args.value }, end: args.end };
    },
  });
}

const deepSeekName = /\s*([^<\s]+)\s*<\uff5ctool[\u2581_ ]sep\uff5c>\s*/y;
const deepSeekOldName = /([^\s`{<]+)\s*(?:```(?:json)?\s*)?/y;
const fenceEnd = /\s*```/y;

/** `at` is on the opening token of the section, or of the first call. V3 writes a type, a name and a JSON fence. */
export function readDeepSeek(source: DialectText, at: number): DialectReading | undefined {
  const { text, rules } = source;
  let dialect: ModelDialect = "deepseek-v3.1";
  const reading = readSection(source, at, {
    dialect,
    sectionBegin: /<\uff5ctool[\u2581_ ]calls[\u2581_ ]begin\uff5c>/y,
    sectionEnd: /\s*<\uff5ctool[\u2581_ ]calls[\u2581_ ]end\uff5c>/y,
    callBegin: /\s*<\uff5ctool[\u2581_ ]call[\u2581_ ]begin\uff5c>/y,
    callEnd: "<\uff5ctool\u2581call\u2581end\uff5c>",
    readCall(from) {
      const head = matchAt(deepSeekName, text, from);
      if (head === undefined) {
        const eof = source.find("sep\uff5c>", from) === text.length;
        return failed(from, eof ? "the reply ends inside it" : "its name is missing", eof);
      }
      let next = from + head[0].length;
      let name = head[1] ?? "";
      if (text[next] !== "{" && next < text.length) {
        const older = matchAt(deepSeekOldName, text, next);
        if (older === undefined) return failed(next, "its name is missing");
        dialect = "deepseek-v3";
        next += older[0].length;
        name = older[1] ?? "";
      }
      const args = objectAt(text, next);
      if (!args.ok) return args;
      const fence = matchAt(fenceEnd, text, args.end);
      return {
        ok: true,
        value: { name: bareName(name, rules), args: args.value },
        end: args.end + (fence?.[0].length ?? 0),
      };
    },
  });
  return reading === undefined ? undefined : { ...reading, dialect };
}

interface Section {
  readonly dialect: ModelDialect;
  readonly sectionBegin: RegExp;
  readonly sectionEnd: RegExp;
  readonly callBegin: RegExp;
  readonly callEnd: string;
  readonly readCall: (from: number) => Read<DialectCall>;
}

/** Calls that follow one another, each between two tokens, in a section between two more. */
function readSection(source: DialectText, at: number, section: Section): DialectReading | undefined {
  const { text } = source;
  const { dialect, callEnd } = section;
  const begin = matchAt(section.sectionBegin, text, at);
  let next = at + (begin?.[0].length ?? 0);
  const calls: DialectCall[] = [];
  for (;;) {
    const opener = matchAt(section.callBegin, text, next);
    if (opener === undefined) break;
    const call = section.readCall(next + opener[0].length);
    if (!call.ok) return broken(source, dialect, { fault: call.fault, closer: callEnd });
    const closed = closedAt(source, call.end, callEnd);
    if (!closed.ok) return broken(source, dialect, { fault: closed.fault, closer: callEnd });
    calls.push(call.value);
    next = closed.end;
  }
  const end = matchAt(section.sectionEnd, text, next);
  if (end !== undefined) {
    if (calls.length === 0) return undefined;
    return { as: "calls", dialect, calls, end: next + end[0].length };
  }
  const rest = skipSpace(text, next, text.length);
  // The section ends with the reply, whole or in the middle of a token.
  const endsHere = rest === text.length || /^<[|\uff5c][^>]*$/.test(text.slice(rest, rest + 40));
  if (endsHere && (calls.length === 0 || source.cut || rest < text.length)) return endsAtOpener(source, dialect);
  return calls.length === 0 ? undefined : { as: "calls", dialect, calls, end: next };
}
