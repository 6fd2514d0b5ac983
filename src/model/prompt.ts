// Turns a conversation into the request of a provider: roles, calls and results, the provider's own state, and marks for its cache.

import {
  type CompleteMessage,
  messageText,
  type Part,
  type ToolCall,
  type ToolResult,
} from "../protocol/task/message.ts";
import { renderToolCall } from "../protocol/toolcalls/render-tool-call.ts";
import { isJsonObject } from "../protocol/toolcalls/tool-call.ts";
import type { ModelRequest } from "../model-port.ts";
import { longestReply } from "./model-limits.ts";
import { compatibleMessages } from "./compatible-messages.ts";
import type { AssistantPart, CallOptions, FunctionTool, PromptMessage, ToolPart, UserPart } from "./language-model.ts";
import { isState, type Metadata, type ProviderState, stateFor, type StateItem } from "./provider-state.ts";
import { cacheControl, callSettingsOf } from "./provider-options.ts";
import type { Setting } from "./refused-setting.ts";
import { type RequestPrefix, requestPrefix } from "./request-prefix.ts";
import type { ResolvedModel } from "./resolve-model.ts";
import { type ReasoningPolicy, reasoningPolicy } from "./send-reasoning.ts";

const noSettings: ReadonlySet<Setting> = new Set();

/** What is known about the model beside its settings. */
export interface Adapted {
  /** Whether reasoning is sent back; the model's own policy when absent. */
  readonly policy?: ReasoningPolicy;
  /** Settings that the model does not take. */
  readonly without?: ReadonlySet<Setting>;
}

export interface Prompt {
  readonly call: CallOptions;
  /** A hash of the request, to be kept with the reply; undefined where the provider's state does not depend on it. */
  readonly prefix: string | undefined;
}

/**
 * Providers refuse a request that breaks one of their rules, so the result keeps these rules whatever the history holds.
 */
export function promptOf(request: ModelRequest, model: ResolvedModel, adapted: Adapted = {}): Prompt {
  const { policy, without = noSettings } = adapted;
  const { kind } = model.provider;
  const cacheHere: Metadata | undefined =
    kind === "anthropic" ? { anthropic: { cacheControl: { ...cacheControl(request) } } } : undefined;
  const asText = request.format === "fenced" || request.tools.length === 0;
  const reasoning = policy ?? reasoningPolicy(model);
  const prefix = asText || reasoning !== "bound" ? undefined : requestPrefix([request.system, request.tools]);
  const plain = asText
    ? textMessages(request.messages)
    : nativeMessages(request.messages, { model: model.name, reasoning, prefix });
  const messages = kind === "openai-compatible" ? compatibleMessages(plain, model.id, reasoning) : plain;
  if (messages[0]?.role !== "user") messages.unshift(userText("(the conversation so far)"));
  if (cacheHere !== undefined) markTurns(messages, cacheHere);
  const system = request.system.trim() === "" ? [] : [systemMessage(request.system, cacheHere)];
  const tools = asText ? [] : request.tools.map(functionTool);
  const last = tools.at(-1);
  if (cacheHere !== undefined && last !== undefined) last.providerOptions = cacheHere;
  const call: CallOptions = {
    prompt: [...system, ...messages],
    maxOutputTokens: longestReply(request, model),
    ...(tools.length === 0 ? {} : { tools, toolChoice: { type: "auto" } }),
    ...callSettingsOf(request, model, without),
  };
  return { call, prefix: prefix?.digest() };
}

function systemMessage(content: string, cacheHere: Metadata | undefined): PromptMessage {
  return { role: "system", content, ...metadataOf(cacheHere) };
}

/** Marks the end of this turn and of the one before, so that what was cached last time is found this time. */
function markTurns(messages: PromptMessage[], cacheHere: Metadata): void {
  const ends = messages.flatMap((message, at) => {
    const next = messages[at + 1]?.role;
    return message.role !== "assistant" && (next === undefined || next === "assistant") ? [message] : [];
  });
  for (const message of ends.slice(-2)) message.providerOptions = cacheHere;
}

function functionTool({ name, description, parameters }: ModelRequest["tools"][number]): FunctionTool {
  return { type: "function", name, description, inputSchema: parameters, strict: false };
}

// ---- with the provider's own calls

interface NativeOptions {
  /** The model's full name: state of another model is not sent to it. */
  readonly model: string;
  readonly reasoning: ReasoningPolicy;
  /** Filled with every message that is sent; undefined unless reasoning is bound to what comes before it. */
  readonly prefix: RequestPrefix | undefined;
}

/** Every call gets exactly one result, right after it: a missing one is made up, and a result without a call becomes text. */
function nativeMessages(history: readonly CompleteMessage[], options: NativeOptions): PromptMessage[] {
  const messages: PromptMessage[] = [];
  const send = (message: PromptMessage): void => {
    messages.push(message);
    options.prefix?.add(message);
  };
  let open: ToolCall[] = [];
  let answers = new Map<string, ToolResult>();
  let strays: UserPart[] = [];
  const close = (): void => {
    if (open.length > 0) {
      send({ role: "tool", content: open.map((call) => toolResult(call, answers.get(call.tool_call_id))) });
      open = [];
    }
    if (strays.length > 0) {
      send({ role: "user", content: strays });
      strays = [];
    }
    if (answers.size > 0) answers = new Map();
  };
  for (const message of history) {
    if (message.role === "tool") {
      for (const part of message.parts) {
        if (part.part_type !== "tool_result") strays.push(...userParts(part));
        else if (open.some((call) => call.tool_call_id === part.data.tool_call_id)) {
          answers.set(part.data.tool_call_id, part.data);
        } else strays.push({ type: "text", text: resultText(part.data) });
      }
      continue;
    }
    close();
    if (message.role === "assistant") {
      const content = assistantParts(message, options);
      if (content.length > 0) send({ role: "assistant", content });
      for (const part of message.parts) if (part.part_type === "tool_call") open.push(part.data);
    } else send({ role: "user", content: nonEmptyParts(message.parts) });
  }
  close();
  return messages;
}

/** Every message of a conversation passes here in each of its turns, so one pass over the parts has to do. */
function assistantParts(message: CompleteMessage, options: NativeOptions): AssistantPart[] {
  const texts: string[] = [];
  const calls: ToolCall[] = [];
  const others: UserPart[] = [];
  let hasState = false;
  for (const part of message.parts) {
    if (part.part_type === "text") texts.push(part.data);
    else if (part.part_type === "tool_call") calls.push(part.data);
    else if (isState(part)) hasState = true;
    else others.push(...userParts(part));
  }
  if (!hasState && texts.length === 0 && others.length === 0) return calls.map((call) => callPart(call));
  const state = hasState ? stateFor(message, options.model) : undefined;
  const stateful = state === undefined ? [] : statefulParts(state, { texts, calls }, options);
  return [
    ...stateful,
    ...texts.flatMap((text) => textPart(text)),
    ...others,
    ...calls.map((call) => callPart(call)),
  ].filter((part) => part.type !== "text" || part.text.trim() !== "");
}

/** What is left of a message: texts and calls are removed from it as their items are found. */
interface Remaining {
  readonly texts: string[];
  readonly calls: ToolCall[];
}

/**
 * The parts with the provider's metadata. Reasoning is sent only together with the text or call that followed it:
 * providers refuse reasoning that stands alone, as it would after a call that was cut, malformed or left out.
 */
function statefulParts(
  { prefix: bound, items }: ProviderState,
  left: Remaining,
  options: NativeOptions,
): AssistantPart[] {
  const { reasoning, prefix } = options;
  const parts: AssistantPart[] = [];
  let isSame = prefix === undefined || (bound !== undefined && bound === prefix.digest());
  let waiting: AssistantPart[] = [];
  for (const item of items) {
    if (item.type === "reasoning") {
      const { text, metadata } = item;
      if (reasoning === "never" || !isSame) continue;
      waiting.push({ type: "reasoning", text, ...metadataOf(metadata) });
      continue;
    }
    const found = takePart(item, left);
    parts.push(...(found.length === 0 ? [] : waiting), ...found);
    // Reasoning after a part that is missing here was written after something else.
    if (found.length === 0 && prefix !== undefined) isSame = false;
    // Blank text is never sent, so it does not separate reasoning from what follows.
    if (found.length > 0 || item.type === "call") waiting = [];
  }
  return parts;
}

/** Removes the text or call that the item belongs to from the lists and returns it with the provider's metadata. */
function takePart(item: Exclude<StateItem, { type: "reasoning" }>, { texts, calls }: Remaining): AssistantPart[] {
  if (item.type === "text") return textPart(texts.shift() ?? "", item.metadata);
  const at = calls.findIndex((call) => call.tool_call_id === item.tool_call_id);
  return calls.splice(at, at < 0 ? 0 : 1).map((call) => callPart(call, item.metadata));
}

function textPart(text: string, metadata?: Metadata): { type: "text"; text: string; providerOptions?: Metadata }[] {
  return text.trim() === "" ? [] : [{ type: "text", text, ...metadataOf(metadata) }];
}

function callPart({ tool_call_id, tool_name, input }: ToolCall, metadata?: Metadata): AssistantPart {
  const held = isJsonObject(input) ? input : { input };
  const part: AssistantPart = { type: "tool-call", toolCallId: tool_call_id, toolName: tool_name, input: held };
  if (metadata !== undefined) part.providerOptions = metadata;
  return part;
}

function metadataOf(metadata: Metadata | undefined): { providerOptions?: Metadata } {
  return metadata === undefined ? {} : { providerOptions: metadata };
}

function toolResult({ tool_call_id, tool_name }: ToolCall, result: ToolResult | undefined): ToolPart {
  const call = { type: "tool-result" as const, toolCallId: tool_call_id, toolName: tool_name };
  const [only, second] = result?.parts ?? [];
  if (only?.part_type === "text" && second === undefined && only.data.trim() !== "") {
    return { ...call, output: { type: "text", value: only.data } };
  }
  const parts = (result?.parts ?? []).flatMap(userParts);
  if (parts.every((part) => part.type === "text")) {
    const none = result === undefined ? "(the outcome of this call is unknown)" : "(no output)";
    const text = parts.map((part) => part.text).join("\n\n");
    return { ...call, output: { type: "text", value: text.trim() === "" ? none : text } };
  }
  return { ...call, output: { type: "content", value: parts } };
}

// ---- with calls in the text

/** For a model that is offered no tools: calls as fenced blocks, results as text of the user. */
function textMessages(history: readonly CompleteMessage[]): PromptMessage[] {
  const messages: PromptMessage[] = [];
  for (const message of history) {
    if (message.role === "assistant") {
      const text = message.parts.flatMap(assistantText).join("\n\n");
      if (text.trim() !== "") messages.push({ role: "assistant", content: [{ type: "text", text }] });
      continue;
    }
    const content = nonEmptyParts(message.parts);
    const before = messages.at(-1);
    // The results of one turn become one message.
    if (message.role === "tool" && before?.role === "user") before.content.push(...content);
    else messages.push({ role: "user", content });
  }
  return messages;
}

function assistantText(part: Part): string[] {
  if (isState(part)) return [];
  if (part.part_type === "text") return part.data.trim() === "" ? [] : [part.data];
  if (part.part_type !== "tool_call")
    return userParts(part).flatMap((shown) => (shown.type === "text" ? [shown.text] : []));
  const { tool_name, input } = part.data;
  return [renderToolCall(tool_name, isJsonObject(input) ? input : {})];
}

// ---- parts

function userText(text: string): PromptMessage {
  return { role: "user", content: [{ type: "text", text }] };
}

/** Never empty, since providers refuse an empty message. */
function nonEmptyParts(parts: readonly Part[]): UserPart[] {
  const converted = parts.flatMap(userParts);
  return converted.length === 0 ? [{ type: "text", text: "(empty)" }] : converted;
}

function userParts(part: Part): UserPart[] {
  switch (part.part_type) {
    case "text":
      return part.data.trim() === "" ? [] : [{ type: "text", text: part.data }];
    case "image":
    case "file": {
      const { data } = part;
      const held =
        data.type === "bytes"
          ? { type: "data" as const, data: data.bytes }
          : { type: "url" as const, url: new URL(data.url) };
      const filename = data.name === null ? {} : { filename: data.name };
      return [{ type: "file", mediaType: data.mime_type, data: held, ...filename }];
    }
    case "tool_result":
      return [{ type: "text", text: resultText(part.data) }];
    case "artifact": {
      const { relative_path, preview } = part.data;
      return [{ type: "text", text: `[file ${relative_path}]${preview === null ? "" : `\n${preview}`}` }];
    }
    case "resource_link":
      return [{ type: "text", text: `[${part.data.uri}]${part.data.text === undefined ? "" : `\n${part.data.text}`}` }];
    case "data":
      return isState(part) ? [] : [{ type: "text", text: JSON.stringify(part.data) ?? "null" }];
    case "tool_call":
      return [{ type: "text", text: `(call of ${part.data.tool_name})` }];
  }
}

function resultText({ tool_name, parts }: ToolResult): string {
  const text = parts.flatMap((part) => {
    const data = part.part_type === "data" ? (JSON.stringify(part.data) ?? "null") : messageText({ parts: [part] });
    return data === "" ? [] : [data];
  });
  return `[result of ${tool_name}]\n${text.join("\n\n")}\n[end of ${tool_name} result]`;
}
