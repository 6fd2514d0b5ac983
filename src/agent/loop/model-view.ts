// One message as the model sees it: long results as a preview, long replies cut, repeated results marked. The record stays whole.

import { previewLimit, previewMessage } from "../../core/preview.ts";
import type { CompleteMessage, Part, ToolResult } from "../../protocol/task/message.ts";
import { partText } from "./part-text.ts";
import type { RepeatGuard } from "./repeat-guard.ts";

/** A longer reply would take up too much of every later request. */
const longestReply = 100_000;

/** Messages must be given in order, since the guard counts repetitions. */
export function modelView(message: CompleteMessage, guard: RepeatGuard): CompleteMessage {
  if (message.role === "assistant") {
    guard.reply(message);
    return message.parts.some(isTooLong) ? { ...message, parts: message.parts.map(shorten) } : message;
  }
  if (message.role !== "tool") return message;
  return { ...message, parts: message.parts.map((part) => viewPart(part, guard)) };
}

/** Data becomes its text: that is what the model reads, and what is counted, compared and paged through. */
function viewPart(part: Part, guard: RepeatGuard): Part {
  if (part.part_type !== "tool_result") return part;
  const { tool_call_id, tool_name, parts } = part.data;
  const shown: Part[] = [];
  let size = parts.length - 1;
  for (const inner of parts) {
    const text: Part = inner.part_type === "data" ? { part_type: "text", data: partText(inner) } : inner;
    size += text.part_type === "text" ? text.data.length : Infinity;
    shown.push(text);
  }
  const whole: ToolResult = { tool_call_id, tool_name, parts: shown };
  return { part_type: "tool_result", data: guard.result(size <= previewLimit ? whole : previewResult(whole)) };
}

function previewResult(whole: ToolResult): ToolResult {
  const short = previewMessage({ parts: [{ part_type: "tool_result", data: whole }] }).parts[0];
  return short?.part_type === "tool_result" ? short.data : whole;
}

/** The number of characters in the messages. */
export function sizeOf(messages: readonly CompleteMessage[]): number {
  let size = 0;
  for (const { parts } of messages) for (const part of parts) size += partText(part).length;
  return size;
}

function isTooLong(part: Part): boolean {
  return part.part_type === "text" && part.data.length > longestReply;
}

function shorten(part: Part): Part {
  if (part.part_type !== "text" || !isTooLong(part)) return part;
  const data = `${part.data.slice(0, longestReply)}\n[cut here: the reply has ${part.data.length} characters]`;
  return { part_type: "text", data };
}
