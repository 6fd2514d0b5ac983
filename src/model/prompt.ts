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
import type { ModelRequest } from "../ports.ts";
import type { AssistantPart, CallOptions, FunctionTool, PromptMessage, ToolPart, UserPart } from "./language-model.ts";
import { isState, type Metadata, stateFor, type StateItem } from "./provider-state.ts";
import type { ResolvedModel } from "./resolve-model.ts";

const cacheHere: Metadata = { anthropic: { cacheControl: { type: "ephemeral" } } };

/** Providers refuse a request that breaks one of their rules, so the result keeps these rules whatever the history holds. */
export function promptOf(request: ModelRequest, model: ResolvedModel): CallOptions {
  const caching = model.provider.kind === "anthropic";
  const asText = request.format === "fenced" || request.tools.length === 0;
  const messages = asText ? textMessages(request.messages) : nativeMessages(request.messages, model.name);
  if (messages[0]?.role !== "user") messages.unshift(userText("(the conversation so far)"));
  if (caching) markTurns(messages);
  const system = request.system.trim() === "" ? [] : [systemMessage(request.system, caching)];
  const tools = asText ? [] : request.tools.map(functionTool);
  const last = tools.at(-1);
  if (caching && last !== undefined) last.providerOptions = cacheHere;
  return {
    prompt: [...system, ...messages],
    maxOutputTokens: request.maxOutputTokens ?? model.maxOutputTokens,
    ...(tools.length === 0 ? {} : { tools, toolChoice: { type: "auto" } }),
    providerOptions: { openai: { store: false }, anthropic: { includePings: true } },
  };
}

function systemMessage(content: string, caching: boolean): PromptMessage {
  return { role: "system", content, ...(caching ? { providerOptions: cacheHere } : {}) };
}

/** Marks the end of this turn and of the one before, so that what was cached last time is found this time. */
function markTurns(messages: PromptMessage[]): void {
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

/** Every call gets exactly one result, right after it: a missing one is made up, and a result without a call becomes text. */
function nativeMessages(history: readonly CompleteMessage[], model: string): PromptMessage[] {
  const messages: PromptMessage[] = [];
  let open: ToolCall[] = [];
  let answers = new Map<string, ToolResult>();
  let strays: UserPart[] = [];
  const close = (): void => {
    const content = open.map((call) => toolResult(call, answers.get(call.tool_call_id)));
    if (content.length > 0) messages.push({ role: "tool", content });
    if (strays.length > 0) messages.push({ role: "user", content: strays });
    [open, answers, strays] = [[], new Map(), []];
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
      const content = assistantParts(message, model);
      if (content.length > 0) messages.push({ role: "assistant", content });
      open = message.parts.flatMap((part) => (part.part_type === "tool_call" ? [part.data] : []));
    } else messages.push({ role: "user", content: nonEmptyParts(message.parts) });
  }
  close();
  return messages;
}

function assistantParts(message: CompleteMessage, model: string): AssistantPart[] {
  const texts = message.parts.flatMap((part) => (part.part_type === "text" ? [part.data] : []));
  const calls = message.parts.flatMap((part) => (part.part_type === "tool_call" ? [part.data] : []));
  const others = message.parts.flatMap((part) =>
    part.part_type === "text" || part.part_type === "tool_call" || isState(part) ? [] : userParts(part),
  );
  const items = stateFor(message, model) ?? [];
  const stateful = items.flatMap((item) => takePart(item, texts, calls));
  return [
    ...stateful,
    ...texts.flatMap((text) => textPart(text)),
    ...others,
    ...calls.map((call) => callPart(call)),
  ].filter((part) => part.type !== "text" || part.text.trim() !== "");
}

/** Removes the text or call that the item belongs to from the lists and returns it with the provider's metadata. */
function takePart(item: StateItem, texts: string[], calls: ToolCall[]): AssistantPart[] {
  if (item.type === "reasoning") return [{ type: "reasoning", text: item.text, ...options(item.metadata) }];
  if (item.type === "text") return textPart(texts.shift() ?? "", item.metadata);
  const at = calls.findIndex((call) => call.tool_call_id === item.tool_call_id);
  return calls.splice(at, at < 0 ? 0 : 1).map((call) => callPart(call, item.metadata));
}

function textPart(text: string, metadata?: Metadata): { type: "text"; text: string; providerOptions?: Metadata }[] {
  return text.trim() === "" ? [] : [{ type: "text", text, ...options(metadata) }];
}

function callPart({ tool_call_id, tool_name, input }: ToolCall, metadata?: Metadata): AssistantPart {
  const held = isJsonObject(input) ? input : { input };
  return { type: "tool-call", toolCallId: tool_call_id, toolName: tool_name, input: held, ...options(metadata) };
}

function options(metadata: Metadata | undefined): { providerOptions?: Metadata } {
  return metadata === undefined ? {} : { providerOptions: metadata };
}

function toolResult({ tool_call_id, tool_name }: ToolCall, result: ToolResult | undefined): ToolPart {
  const call = { type: "tool-result" as const, toolCallId: tool_call_id, toolName: tool_name };
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
