// How many tokens a request will be, never too few: held against the budget before it is sent.

import type { CompleteMessage, Part } from "../protocol/task/message.ts";
import type { ModelRequest, ModelTool } from "../ports.ts";

/** English and code have about four characters to a token; other scripts may have one. */
const charactersPerToken = 3.5;
/** A picture or a page of a document. */
const mediaTokens = 1_600;
/** Around every message and tool. */
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

/** A message is in every later request of its conversation, and does not change; so with a tool. */
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
    // A document's pages cannot be counted from here; its size bounds its text.
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
