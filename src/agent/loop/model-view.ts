// One message as the model sees it: long results as a preview, long replies cut, repeated results marked. What is kept stays whole.

import { previewLimit, previewMessage } from "../../core/preview.ts";
import type { CompleteMessage, Part, ToolResult } from "../../protocol/task/message.ts";
import { partText } from "./part-text.ts";
import type { RepeatGuard } from "./repeat-guard.ts";

/** A reply longer than this would crowd out everything else in every later request. */
const longestReply = 100_000;

/** Messages must come in order: the guard counts. */
export function modelView(message: CompleteMessage, guard: RepeatGuard): CompleteMessage {
  if (message.role === "assistant") {
    guard.reply(message);
    return message.parts.some(isTooLong) ? { ...message, parts: message.parts.map(shortened) } : message;
  }
  if (message.role !== "tool") return message;
  return { ...message, parts: message.parts.map((part) => seenPart(part, guard)) };
}

/** Data is told as its text: that is what the model reads, and what is counted, compared and paged through. */
function seenPart(part: Part, guard: RepeatGuard): Part {
  if (part.part_type !== "tool_result") return part;
  const { tool_call_id, tool_name, parts } = part.data;
  const told: Part[] = [];
  let size = parts.length - 1;
  for (const held of parts) {
    const shown: Part = held.part_type === "data" ? { part_type: "text", data: partText(held) } : held;
    size += shown.part_type === "text" ? shown.data.length : Infinity;
    told.push(shown);
  }
  const whole: ToolResult = { tool_call_id, tool_name, parts: told };
  return { part_type: "tool_result", data: guard.result(size <= previewLimit ? whole : shortResult(whole)) };
}

function shortResult(whole: ToolResult): ToolResult {
  const short = previewMessage({ parts: [{ part_type: "tool_result", data: whole }] }).parts[0];
  return short?.part_type === "tool_result" ? short.data : whole;
}

/** Characters of text in the messages. */
export function sizeOf(messages: readonly CompleteMessage[]): number {
  let size = 0;
  for (const { parts } of messages) for (const part of parts) size += partText(part).length;
  return size;
}

function isTooLong(part: Part): boolean {
  return part.part_type === "text" && part.data.length > longestReply;
}

function shortened(part: Part): Part {
  if (part.part_type !== "text" || !isTooLong(part)) return part;
  const data = `${part.data.slice(0, longestReply)}\n[cut here: the reply has ${part.data.length} characters]`;
  return { part_type: "text", data };
}
