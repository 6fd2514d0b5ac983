// The table of the dialects that models were trained on: which token begins a call in which of them.
import { skipSpace } from "../../white-space.ts";
import { type DialectReading, type DialectText, matchAt } from "./dialect-reading.ts";
import { readGemma } from "./read-gemma.ts";
import { readHarmony } from "./read-harmony.ts";
import {
  endsAtOpener,
  readDeepSeek,
  readKimi,
  readMistral,
  readPythonTag,
  readTaggedObjects,
} from "./read-json-dialects.ts";
import { readPythonStart } from "./read-pythonic.ts";
import { readDsml, readGlm, readMiniMax, readQwen } from "./read-tagged-dialects.ts";

/** Reads what begins with a token at [at, after); undefined if the token is only mentioned. */
type Opener = (source: DialectText, at: number, after: number) => DialectReading | undefined;

const harmonyEnd: Opener = (source, _at, after) => {
  return source.harmony ? { as: "markup", dialect: "harmony", end: after } : undefined;
};
const harmonyMessage: Opener = (source, at) => readHarmony(source, at);
const kimi: Opener = (source, at) => readKimi(source, at);
const deepSeek: Opener = (source, at) => readDeepSeek(source, at);

const openers: ReadonlyMap<string, Opener> = new Map<string, Opener>([
  ["<tool_call>", readToolCallTag],
  ["<tool_calls>", readToolCallsTag],
  ["<function=", (source, at) => readQwen(source, at, false)],
  ["<minimax:tool_call>", (source, _at, after) => readMiniMax(source, after)],
  ["<|tool_calls_section_begin|>", kimi],
  ["<|tool_call_section_begin|>", kimi],
  ["<|tool_call_begin|>", kimi],
  ["<\uff5ctool\u2581calls\u2581begin\uff5c>", deepSeek],
  ["<\uff5ctool\u2581call\u2581begin\uff5c>", deepSeek],
  [
    "<\uff5cDSML\uff5cfunction_calls>",
    (source, _at, after) => readDsml(source, after, "\uff5cDSML\uff5cfunction_calls"),
  ],
  ["<\uff5cDSML\uff5ctool_calls>", (source, _at, after) => readDsml(source, after, "\uff5cDSML\uff5ctool_calls")],
  ["<|python_tag|>", (source, _at, after) => readPythonTag(source, after)],
  ["<|python_start|>", (source, _at, after) => readPythonStart(source, after)],
  ["<|channel|>", harmonyMessage],
  ["<|start|>assistant", harmonyMessage],
  ["<|end|>", harmonyEnd],
  ["<|return|>", harmonyEnd],
  ["<|call|>", harmonyEnd],
  ["<|tool_call>", (source, _at, after) => readGemma(source, after, { quote: '<|"|>', callEnd: "<tool_call|>" })],
  [
    "<start_function_call>",
    (source, _at, after) => readGemma(source, after, { quote: "<escape>", callEnd: "<end_function_call>" }),
  ],
  ["<|channel>thought", (source, _at, after) => readThought(source, after)],
  ["[TOOL_CALLS]", (source, _at, after) => readMistral(source, after)],
  ["[THINK]", (source, _at, after) => readMistralThought(source, after)],
]);

const opener =
  /<(?:tool_calls?>|function=|minimax:tool_call>|start_function_call>|\|(?:tool_calls?_section_begin\|>|tool_call_begin\|>|tool_call>|python_(?:tag|start)\|>|channel\|>|channel>thought|start\|>assistant|(?:end|return|call)\|>)|\uff5c(?:tool[\u2581_ ]calls?[\u2581_ ]begin\uff5c>|DSML\uff5c(?:function|tool)_calls>))|\[(?:TOOL_CALLS|THINK)\]/y;

/** The token of a dialect that begins at `at`, if one does. */
export function dialectTokenAt(text: string, at: number): string | undefined {
  return matchAt(opener, text, at)?.[0];
}

/** Whether the token only ends a message that another one began. */
export function endsMessage(token: string): boolean {
  return openers.get(token) === harmonyEnd;
}

const longestToken = Math.max(...[...openers.keys()].map((token) => token.length));
const allTokens = [...openers.keys()].map(plainly);

/** Whether a token of a dialect begins with the whole text. */
export function mayBecomeToken(text: string): boolean {
  if (text.length >= longestToken) return false;
  const written = plainly(text);
  return allTokens.some((token) => token.startsWith(written));
}

/** The signs that stand between the words of a token differ from template to template. */
function plainly(token: string): string {
  return token.replaceAll(/[\u2581 ]/g, "_");
}

/** Undefined if no dialect begins at `at`, or if its token is only mentioned there. */
export function readDialectAt(source: DialectText, at: number): DialectReading | undefined {
  const token = dialectTokenAt(source.text, at);
  if (token === undefined) return undefined;
  const known = openers.get(token) ?? openers.get(token.replaceAll(/(?<=tool|calls?)[_ ]/g, "\u2581"));
  return known?.(source, at, at + token.length);
}

/** Three dialects share this tag: what follows it tells which one it is. */
function readToolCallTag(source: DialectText, _at: number, after: number): DialectReading | undefined {
  const { text } = source;
  const at = skipSpace(text, after, text.length);
  if (at === text.length) return endsAtOpener(source, "hermes");
  if (text[at] === "{" || text[at] === "[") {
    return readTaggedObjects(source, at, { dialect: "hermes", closer: "</tool_call>" });
  }
  if (text.startsWith("<function=", at)) return readQwen(source, at, true);
  if (text[at] === "<" && "<function=".startsWith(text.slice(at))) return endsAtOpener(source, "qwen3-coder");
  return readGlm(source, at);
}

function readToolCallsTag(source: DialectText, _at: number, after: number): DialectReading | undefined {
  const { text } = source;
  const at = skipSpace(text, after, text.length);
  if (at === text.length) return endsAtOpener(source, "minimax");
  if (text[at] !== "{" && text[at] !== "[") return undefined;
  return readTaggedObjects(source, at, { dialect: "minimax", closer: "</tool_calls>" });
}

function readThought(source: DialectText, from: number): DialectReading | undefined {
  const end = "<channel|>";
  const to = source.find(end, from);
  if (to === source.text.length) return undefined;
  return { as: "reasoning", dialect: "gemma", from, to, end: to + end.length };
}

function readMistralThought(source: DialectText, from: number): DialectReading | undefined {
  const end = "[/THINK]";
  const to = source.find(end, from);
  if (to === source.text.length) return undefined;
  return { as: "reasoning", dialect: "mistral", from, to, end: to + end.length };
}
