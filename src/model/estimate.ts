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
  const messages = request.messages.reduce((sum, message) => sum + tokensOfMessage(message), 0);
  const tools = request.tools.reduce((sum, tool) => sum + tokensOfTool(tool), 0);
  return tokensOfText(request.system) + messages + tools + frameTokens;
}

export function tokensOfText(text: string): number {
  let wide = 0;
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) wide += 1;
  return Math.ceil((text.length - wide) / charactersPerToken) + wide;
}

/** Messages and tools do not change and are in every later request of their conversation, so their counts are remembered. */
const counted = new WeakMap<CompleteMessage | ModelTool, number>();

function tokensOfMessage(message: CompleteMessage): number {
  const known = counted.get(message);
  if (known !== undefined) return known;
  const tokens = frameTokens + message.parts.reduce((sum, part) => sum + tokensOfPart(part), 0);
  counted.set(message, tokens);
  return tokens;
}

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
  const known = counted.get(tool);
  if (known !== undefined) return known;
  const tokens = frameTokens + tokensOfText(JSON.stringify(tool));
  counted.set(tool, tokens);
  return tokens;
}
