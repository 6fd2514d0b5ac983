// Reads a model's reply into text and calls, whatever format it came in, and finds what the model must correct.

import { readWrittenJson } from "../../protocol/json/written-json.ts";
import {
  isJsonObject,
  type JsonObject,
  type ToolCallReply,
  type Violation,
} from "../../protocol/toolcalls/tool-call.ts";
import type { Profile } from "../../protocol/toolcalls/dialect.ts";
import { parseToolCalls, type ToolCallOptions } from "../../protocol/toolcalls/parse-tool-calls.ts";
import { losesCall, toolFeedback } from "../../protocol/toolcalls/tool-feedback.ts";
import { type Message, messageText, type Part, type ToolCall } from "../../protocol/task/message.ts";
import type { MalformedCall, ModelFormat, ModelReply } from "../../model-port.ts";

export interface ReplyRules {
  readonly format: ModelFormat;
  /** `tolerant` when absent. */
  readonly profile?: Profile;
  /** Names of the tools the agent is offered. */
  readonly toolNames: ReadonlySet<string>;
  /** The JSON Schemas of their arguments. */
  readonly toolSchemas?: ReadonlyMap<string, JsonObject>;
}

export interface ReadReply {
  /** The parts of the message; calls are parts in both formats. */
  readonly parts: Part[];
  /** The reply as it was written; absent when the parts hold all of it. */
  readonly original?: string;
}

/** Something in a reply that the model must be told about. */
export interface ReplyProblem {
  readonly feedback: string;
  /** Two problems with the same codes are the same error; empty when the feedback is only a hint. */
  readonly codes: readonly string[];
}

/** `prefix` makes the ids of the calls unique in the task. */
export function readReply(reply: ModelReply, rules: ReplyRules, prefix: string): ReadReply {
  return rules.format === "fenced" ? readFenced(reply, rules, prefix) : readNative(reply, rules, prefix);
}

function readFenced({ message, finish }: ModelReply, rules: ReplyRules, prefix: string): ReadReply {
  const only = message.parts.length === 1 ? message.parts[0] : undefined;
  const text = only?.part_type === "text" ? only.data : messageText(message);
  const read = parseToolCalls(text, { ...readingOf(rules), cut: finish === "length" });
  const calls = read.calls.map(({ id, name, args }) => callOf(`${prefix}_${id}`, name, args));
  // Some providers make native calls although none were offered; these count too.
  calls.push(...nativeCalls(message, prefix));
  const rejected = countRejected(read);
  const parts = textPart(rejected > 0 ? placeholder(calls, rejected) : read.prose);
  for (const data of calls) parts.push({ part_type: "tool_call", data });
  const whole = rejected === 0 && read.violations.length === 0 && read.reasoning === "" && read.ignored.length === 0;
  return whole ? { parts } : { parts, original: text };
}

function readingOf({ profile, toolNames, toolSchemas }: ReplyRules): ToolCallOptions {
  return {
    tools: toolNames,
    ...(toolSchemas === undefined ? {} : { schemas: toolSchemas }),
    ...(profile === undefined ? {} : { profile }),
  };
}

function readNative({ message }: ModelReply, rules: ReplyRules, prefix: string): ReadReply {
  const calls = nativeCalls(message, prefix);
  if (calls.length > 0) {
    const parts: Part[] = message.parts.filter((part) => part.part_type !== "tool_call");
    for (const data of calls) parts.push({ part_type: "tool_call", data });
    return { parts };
  }
  const text = messageText(message);
  const written = writtenCalls(text, rules);
  if (written === undefined) return { parts: message.parts };
  const parts = textPart(placeholder([], written.calls.length + countRejected(written)));
  return { parts, original: text };
}

/** Undefined when the reply is fine. `original` is the text that `readReply` returned beside the parts. */
export function replyProblem(
  reply: Pick<ModelReply, "message" | "finish"> & {
    readonly original?: string | undefined;
    readonly malformed?: readonly MalformedCall[] | undefined;
  },
  rules: ReplyRules,
): ReplyProblem | undefined {
  if (reply.finish === "empty") return { feedback: emptyReply, codes: ["empty_reply"] };
  const cut = reply.finish === "length";
  if (!cut && reply.original === undefined && reply.malformed === undefined) return undefined;
  const called = reply.message.parts.some((part) => part.part_type === "tool_call");
  const written = reply.original === undefined ? undefined : textProblem(reply.original, rules, cut);
  const malformed = reply.malformed ?? [];
  const codes = [
    ...(written?.codes ?? []),
    ...(malformed.length > 0 ? ["malformed_call"] : []),
    ...(cut && !called ? ["cut_reply"] : []),
  ];
  const feedback = [
    ...(written === undefined ? [] : [written.feedback]),
    ...(malformed.length === 0 ? [] : [describeMalformed(malformed)]),
    ...(cut ? [called ? cutAfterCalls : cutAnswer] : []),
    ...(written !== undefined && !called ? [answerHint] : []),
  ];
  return feedback.length === 0 ? undefined : { feedback: feedback.join("\n\n"), codes };
}

/** How the calls of a reply depart from the form that the agent was taught; in the native format there is none. */
export function violationsIn(
  { original, finish }: Pick<ModelReply, "finish"> & { readonly original?: string | undefined },
  rules: ReplyRules,
): readonly Violation[] {
  if (rules.format !== "fenced" || original === undefined) return [];
  return parseToolCalls(original, { ...readingOf(rules), cut: finish === "length" }).violations;
}

const emptyReply =
  "Your last reply was empty: it had neither text nor a call. Go on with the task: call a tool, or give the answer.";
const cutAnswer =
  "Your last reply was cut at its length limit and is not taken as the answer. Give it again, shorter or in several steps.";
const cutAfterCalls =
  "Your last reply was cut at its length limit; what came after the cut is lost, and a call that was cut did not run. Write less per reply.";
const answerHint = "If that text was your answer and not a call, give it with `final`.";

function describeMalformed(malformed: readonly MalformedCall[]): string {
  const lines = malformed.map(
    ({ tool_name, text, message }) => `- ${tool_name}: ${message} At: ${JSON.stringify(text.slice(0, 200))}`,
  );
  return `Not every call of your last reply could be run:\n${lines.join("\n")}\n\nMake these calls again, with one JSON object as arguments each. The others ran; do not repeat them.`;
}

function textProblem(original: string, rules: ReplyRules, cut: boolean): ReplyProblem | undefined {
  const { format, toolNames } = rules;
  const options = { format, tools: [...toolNames] };
  if (format === "fenced") {
    const read = parseToolCalls(original, { ...readingOf(rules), cut });
    const feedback = toolFeedback(read, options);
    return feedback === undefined ? undefined : { feedback, codes: codesOf(read) };
  }
  const read = writtenCalls(original, rules);
  if (read === undefined) return undefined;
  const names = [...new Set(read.calls.map(({ name }) => `\`${name}\``))].join(", ");
  const feedback =
    toolFeedback({ ...read, calls: [] }, options) ??
    `Your last reply holds a call of ${names} written as text. It did not run. Call tools through the function-calling interface of this conversation, with a JSON object as arguments.`;
  return { feedback, codes: read.calls.length > 0 ? ["call_as_text"] : codesOf(read) };
}

/**
 * Calls that a model wrote into its text although it can call tools natively; undefined when there are none. They do not
 * run, so they are looked for in every form, whatever the profile.
 */
function writtenCalls(text: string, { toolNames }: ReplyRules): ToolCallReply | undefined {
  // Every form of a written call contains one of these, so most replies need no parsing.
  if (!/[`{<~|[]|tool_/.test(text)) return undefined;
  const read = parseToolCalls(text, { tools: toolNames });
  const errors = read.errors.filter((error) => error.code !== "quoted_call");
  const violations = read.violations.filter((violation) => violation.kind === "other_dialect");
  const calls = read.calls.filter((call) => toolNames.has(call.name));
  return errors.length + violations.length + calls.length === 0 ? undefined : { ...read, calls, errors, violations };
}

function countRejected({ errors, violations }: ToolCallReply): number {
  return violations.length === 0
    ? errors.length
    : errors.length + violations.filter(({ kind }) => losesCall(kind)).length;
}

function codesOf({ errors, violations }: ToolCallReply): string[] {
  const codes = [...errors.map(({ code }) => code), ...violations.map(({ kind }) => kind).filter(losesCall)];
  return [...new Set<string>(codes)].toSorted();
}

/** Takes the place of a malformed reply, so that the model does not see its broken syntax again and repeat it. */
function placeholder(ran: readonly ToolCall[], rejected: number): string {
  const shown = ran.slice(0, 20).map((call) => call.tool_name);
  const names = ran.length === 0 ? "" : ` (${shown.join(", ")})`;
  return `[Left out: a reply with calls that could not be read. ${ran.length} ran${names}, ${rejected} rejected.]`;
}

function textPart(text: string): Part[] {
  return text === "" ? [] : [{ part_type: "text", data: text }];
}

function callOf(tool_call_id: string, tool_name: string, input: unknown): ToolCall {
  return { tool_call_id, tool_name, input };
}

/** Some providers give calls no id, or the same id to several calls. */
function nativeCalls(message: Message, prefix: string): ToolCall[] {
  const calls: ToolCall[] = [];
  let seen: Set<string> | undefined;
  for (const part of message.parts) {
    if (part.part_type !== "tool_call") continue;
    seen ??= new Set();
    const { tool_call_id: id, tool_name, input } = part.data;
    const tool_call_id = id !== "" && !seen.has(id) ? id : `${prefix}_tc_${calls.length}`;
    seen.add(tool_call_id);
    calls.push(callOf(tool_call_id, tool_name, decodeArguments(input)));
  }
  return calls;
}

/** Decodes arguments that were sent as JSON text. Text that holds no object stays as it is, and the tool refuses it. */
function decodeArguments(input: unknown): unknown {
  if (typeof input !== "string") return input;
  const read = readWrittenJson(input);
  return read.ok && isJsonObject(read.value) ? read.value : input;
}
