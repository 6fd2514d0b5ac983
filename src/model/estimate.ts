// Estimates the tokens of a request, rather too many than too few: they are reserved in the budget before it is sent.

import type { CompleteMessage, Part } from "../protocol/task/message.ts";
import type { ModelRequest, ModelTool } from "../model-port.ts";

/** For ASCII text, which has about four characters per token. Every other character counts as a token of its own. */
const charactersPerToken = 3.5;
/** An image, or a page of a document. */
const mediaTokens = 1_600;
/** What every message and every tool costs beside its content. */
const frameTokens = 8;

export function estimateInput(request: ModelRequest): number {
  const { system, messages, tools } = request;
  let sum = tokensOfText(system) + tokensOfMessages(messages) + frameTokens;
  for (const tool of tools) sum += tokensOfTool(tool);
  return sum;
}

export function tokensOfText(text: string): number {
  let wide = 0;
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) wide += 1;
  return Math.ceil((text.length - wide) / charactersPerToken) + wide;
}

interface CountedMessages {
  readonly length: number;
  /** The last message that was counted. */
  readonly last: CompleteMessage | undefined;
  readonly tokens: number;
}

/** A conversation only grows and its messages do not change, so each of them is counted once. A shorter one is another list. */
const countedMessages = new WeakMap<readonly CompleteMessage[], CountedMessages>();

function tokensOfMessages(messages: readonly CompleteMessage[]): number {
  const known = countedMessages.get(messages);
  const isGrown = known !== undefined && known.length > 0 && messages[known.length - 1] === known.last;
  let tokens = isGrown ? known.tokens : 0;
  for (let at = isGrown ? known.length : 0; at < messages.length; at += 1) {
    tokens += frameTokens;
    for (const part of messages[at]?.parts ?? []) tokens += tokensOfPart(part);
  }
  countedMessages.set(messages, { length: messages.length, last: messages.at(-1), tokens });
  return tokens;
}

/** Tools do not change and are in every request, so their counts are remembered. */
const countedTools = new WeakMap<ModelTool, number>();

function tokensOfPart(part: Part): number {
  if (part.part_type === "text") return tokensOfText(part.data);
  if (part.part_type === "tool_result") {
    return frameTokens + part.data.parts.reduce((sum, inner) => sum + tokensOfPart(inner), 0);
  }
  if (part.part_type === "image" || part.part_type === "file") {
    // The pages of a document cannot be counted here, but its size bounds the length of its text.
    const size =
      part.data.type === "bytes" && part.part_type === "file" ? part.data.bytes.length / charactersPerToken : 0;
    return Math.ceil(Math.max(mediaTokens, size));
  }
  return tokensOfText(JSON.stringify(part.data) ?? "");
}

function tokensOfTool(tool: ModelTool): number {
  const known = countedTools.get(tool);
  if (known !== undefined) return known;
  const tokens = frameTokens + tokensOfText(JSON.stringify(tool));
  countedTools.set(tool, tokens);
  return tokens;
}
