// Reads the dialects that write each argument as plain text between tags: Qwen3-Coder, GLM, MiniMax M2 and DeepSeek V3.2.
import { skipSpace, trimSpace } from "../../white-space.ts";
import type { Json, ModelDialect } from "../tool-call.ts";
import {
  bareName,
  broken,
  cutFault,
  type DialectCall,
  type DialectReading,
  type DialectText,
  failed,
  jsonAt,
  matchAt,
  objectAt,
  type Read,
} from "./dialect-reading.ts";
import { typedValue } from "./plain-values.ts";

/** How one dialect writes a call and its arguments. All patterns are sticky and take linear time. */
interface TagForm {
  readonly dialect: ModelDialect;
  /** Begins a call; its first group is the name. */
  readonly callBegin: RegExp;
  readonly callEnd: string;
  /** Begins an argument; its first group is the key, its second one is `true` for text and `false` for JSON. */
  readonly valueBegin: RegExp;
  readonly valueEnd: string;
  /** What follows the end of a value. Without it, the end belongs to the value's own text. */
  readonly afterValue: RegExp;
  /** The template writes the text on lines of its own. */
  readonly ownLines: boolean;
}

const qwen: TagForm = {
  dialect: "qwen3-coder",
  callBegin: /\s*<function=\s*"?([^>\s"]+)"?\s*>/y,
  callEnd: "</function>",
  valueBegin: /\s*<parameter=([^>\n]+)>/y,
  valueEnd: "</parameter>",
  afterValue: /\s*(?:<parameter=|<\/function>)/y,
  ownLines: true,
};

const glm: TagForm = {
  dialect: "glm",
  callBegin: /\s*([\w.:-]+)\s*(?=<arg_key>|<\/tool_call>|$)/y,
  callEnd: "</tool_call>",
  valueBegin: /\s*<arg_key>([^<\n]+)<\/arg_key>\s*<arg_value>/y,
  valueEnd: "</arg_value>",
  afterValue: /\s*(?:<arg_key>|<\/tool_call>)/y,
  ownLines: false,
};

const minimax: TagForm = {
  dialect: "minimax",
  callBegin: /\s*<invoke\s+name=["']?([^>"'\s]+)["']?\s*>/y,
  callEnd: "</invoke>",
  valueBegin: /\s*<parameter\s+name=([^>\n]+)>/y,
  valueEnd: "</parameter>",
  afterValue: /\s*(?:<parameter\s|<\/invoke>)/y,
  ownLines: true,
};

const dsml: TagForm = {
  dialect: "deepseek-v3.2",
  callBegin: /\s*<\uff5cDSML\uff5cinvoke\s+name="([^"\n]+)"\s*>/y,
  callEnd: "</\uff5cDSML\uff5cinvoke>",
  valueBegin: /\s*<\uff5cDSML\uff5cparameter\s+name="([^"\n]+)"(?:\s+string="(true|false)")?\s*>/y,
  valueEnd: "</\uff5cDSML\uff5cparameter>",
  afterValue: /\s*(?:<\uff5cDSML\uff5cparameter\s|<\/\uff5cDSML\uff5cinvoke>)/y,
  ownLines: false,
};

const toolCallEnd = "</tool_call>";

/** Calls from `<function=` on. `wrapped` says that they stand inside `<tool_call>`. */
export function readQwen(source: DialectText, at: number, wrapped: boolean): DialectReading | undefined {
  const plain = readLlamaFunction(source, at);
  if (plain !== undefined) return plain;
  return readTagged(source, at, { form: qwen, wrapperEnd: wrapped ? toolCallEnd : undefined });
}

/** `at` is on the name after `<tool_call>`. */
export function readGlm(source: DialectText, at: number): DialectReading | undefined {
  const { text, rules } = source;
  const head = matchAt(glm.callBegin, text, at);
  if (head === undefined) return undefined;
  // A word alone between the tags is a call without arguments only if it names a tool.
  const hasArgs = text.startsWith("<arg_key>", at + head[0].length);
  if (!hasArgs && rules.tools?.has(head[1] ?? "") !== true) return undefined;
  const call = readTaggedCall(source, at, glm);
  if (!call.ok) return broken(source, "glm", { fault: call.fault, closer: toolCallEnd });
  return { as: "calls", dialect: "glm", calls: [call.value], end: call.end };
}

/** `after` is after the opening tag. */
export function readMiniMax(source: DialectText, after: number): DialectReading | undefined {
  return readTagged(source, after, { form: minimax, wrapperEnd: "</minimax:tool_call>" });
}

export function readDsml(source: DialectText, after: number, tag: string): DialectReading | undefined {
  return readTagged(source, after, { form: dsml, wrapperEnd: `</${tag}>` });
}

/** The form that Llama 3.1 was taught beside its own: the arguments are JSON. */
function readLlamaFunction(source: DialectText, at: number): DialectReading | undefined {
  const { text, rules } = source;
  const head = matchAt(qwen.callBegin, text, at);
  if (head === undefined) return undefined;
  const from = skipSpace(text, at + head[0].length, text.length);
  if (text[from] !== "{") return undefined;
  const args = objectAt(text, from);
  if (!args.ok) return broken(source, "llama", { fault: args.fault, closer: qwen.callEnd });
  const next = skipSpace(text, args.end, text.length);
  if (!text.startsWith(qwen.callEnd, next)) {
    const eof = qwen.callEnd.startsWith(text.slice(next));
    const fault = { at: next, detail: eof ? "the reply ends inside it" : "text follows its JSON object", eof };
    return broken(source, "llama", { fault, closer: qwen.callEnd });
  }
  const call = { name: bareName(head[1] ?? "", rules), args: args.value };
  return { as: "calls", dialect: "llama", calls: [call], end: next + qwen.callEnd.length };
}

/** One or more calls, up to the end of the wrapper around them. */
function readTagged(
  source: DialectText,
  at: number,
  { form, wrapperEnd }: { readonly form: TagForm; readonly wrapperEnd: string | undefined },
): DialectReading | undefined {
  const { text, cut } = source;
  const { dialect } = form;
  const closer = wrapperEnd ?? form.callEnd;
  const calls: DialectCall[] = [];
  let next = at;
  while (matchAt(form.callBegin, text, next) !== undefined) {
    const call = readTaggedCall(source, next, form);
    if (!call.ok) return broken(source, dialect, { fault: call.fault, closer });
    calls.push(call.value);
    next = call.end;
    if (wrapperEnd === undefined) return { as: "calls", dialect, calls, end: pastStrayEnd(text, next) };
  }
  const rest = skipSpace(text, next, text.length);
  if (wrapperEnd === undefined) return undefined;
  if (text.startsWith(wrapperEnd, rest)) {
    return calls.length === 0 ? undefined : { as: "calls", dialect, calls, end: rest + wrapperEnd.length };
  }
  // The last call is whole, and only the tag around it is missing or cut.
  const eof = rest === text.length || wrapperEnd.startsWith(text.slice(rest, rest + wrapperEnd.length));
  if (eof && calls.length > 0 && !cut) return { as: "calls", dialect, calls, end: text.length };
  const beginsCall = text.startsWith("<", rest) && source.find(">", rest) === text.length;
  if (eof || beginsCall) return broken(source, dialect, { fault: { at: text.length, detail: cutFault, eof: true } });
  if (calls.length === 0) return undefined;
  return broken(source, dialect, { fault: { at: rest, detail: "text follows the call", eof: false }, closer });
}

/** Some models leave out `<tool_call>` and write only its end. */
function pastStrayEnd(text: string, at: number): number {
  const next = skipSpace(text, at, text.length);
  return text.startsWith(toolCallEnd, next) ? next + toolCallEnd.length : at;
}

/** `at` is before the tag that begins the call. */
function readTaggedCall(source: DialectText, at: number, form: TagForm): Read<DialectCall> {
  const { text, rules } = source;
  const head = matchAt(form.callBegin, text, at);
  if (head === undefined) return failed(at, "its name is missing");
  const name = bareName(head[1] ?? "", rules);
  const entries: [string, Json][] = [];
  let next = at + head[0].length;
  for (;;) {
    const begin = matchAt(form.valueBegin, text, next);
    if (begin === undefined) break;
    const from = next + begin[0].length;
    const to = endOfValue(source, from, form);
    if (to >= text.length) return failed(text.length, "the reply ends inside it", true);
    const key = unquoted(trimSpace(begin[1] ?? ""));
    const written = form.ownLines ? withoutOwnLines(text.slice(from, to)) : text.slice(from, to);
    entries.push([key, valueOf(source, { written, key, tool: name, isText: begin[2] })]);
    next = to + form.valueEnd.length;
  }
  const rest = skipSpace(text, next, text.length);
  if (!text.startsWith(form.callEnd, rest)) {
    // What cannot be read is the beginning of a tag, or the reply ends here.
    const eof = rest === text.length || (text[rest] === "<" && source.find(">", rest) === text.length);
    const open = text.startsWith("<arg_key>", rest) && source.find("<arg_value>", rest) === text.length;
    return eof || open
      ? failed(text.length, "the reply ends inside it", true)
      : failed(rest, `expected an argument or \`${form.callEnd}\``);
  }
  return { ok: true, value: { name, args: Object.fromEntries(entries) }, end: rest + form.callEnd.length };
}

/** Where the value's closing tag stands: the first one after which an argument begins or the call ends. */
function endOfValue(source: DialectText, from: number, { valueEnd, afterValue }: TagForm): number {
  const { text } = source;
  let at = source.find(valueEnd, from);
  while (at < text.length && matchAt(afterValue, text, at + valueEnd.length) === undefined) {
    at = source.find(valueEnd, at + 1);
  }
  return at;
}

function unquoted(key: string): string {
  const quote = key.charAt(0);
  return key.length > 1 && (quote === '"' || quote === "'") && key.endsWith(quote) ? key.slice(1, -1) : key;
}

function withoutOwnLines(written: string): string {
  const from = written.startsWith("\r\n") ? 2 : written.startsWith("\n") ? 1 : 0;
  if (from === 0) return written;
  const to = written.endsWith("\r\n") ? 2 : written.endsWith("\n") ? 1 : 0;
  return written.slice(from, Math.max(from, written.length - to));
}

function valueOf(
  { schemas }: DialectText,
  place: {
    readonly written: string;
    readonly key: string;
    readonly tool: string;
    readonly isText: string | undefined;
  },
): Json {
  const { written, key, tool, isText } = place;
  if (isText === "true") return written;
  const typed = typedValue(written, { tool, key, schemas });
  if (isText === undefined || typed !== written) return typed;
  const read = jsonAt(written, skipSpace(written, 0, written.length));
  return read.ok && skipSpace(written, read.end, written.length) === written.length ? read.value : written;
}
