// What a model sees of a large tool result: first its beginning and end, and on request the rest in pages.

import type { Message, ToolResult } from "../protocol/task/message.ts";

/** Results up to this many characters are shown whole. */
export const previewLimit = 32_000;
const headLength = 12_000;
const tailLength = 4_000;
/** With its heading a page stays below the limit, so that it is shown whole. */
const pageLength = 24_000;

/** The text that offsets count in: text parts as they are, other parts as JSON, with a line break between two parts. */
export function resultText({ parts }: Pick<ToolResult, "parts">): string {
  return parts
    .map((part) => (part.part_type === "text" ? part.data : (JSON.stringify(part.data) ?? "null")))
    .join("\n");
}

/**
 * The text itself when it is short; `id` is what `read_result` finds the whole by.
 * @internal Exported for its tests only.
 */
export function preview(text: string, id: string): string {
  if (text.length <= previewLimit) return text;
  const head = text.slice(0, wholeAt(text, headLength));
  const tailFrom = wholeAt(text, text.length - tailLength);
  const leftOut = tailFrom - head.length;
  const call = JSON.stringify({ id, offset: head.length });
  return `${head}\n[… ${leftOut} of ${text.length} characters are not shown here; read_result ${call} shows them …]\n${text.slice(tailFrom)}`;
}

export type Page =
  | { readonly ok: true; readonly text: string; readonly from: number; readonly to: number; readonly total: number }
  | { readonly ok: false; readonly total: number };

/** Not ok if the offset is past the end. Consecutive pages leave nothing out. */
export function pageOf(text: string, offset: number): Page {
  const total = text.length;
  if (offset >= total) return { ok: false, total };
  const from = wholeAt(text, offset);
  const to = wholeAt(text, Math.min(total, from + pageLength));
  return { ok: true, text: text.slice(from, to), from, to, total };
}

/** The message with every large tool result shortened; the same object when nothing in it is large. */
export function previewMessage<T extends Pick<Message, "parts">>(message: T): T {
  let changed = false;
  const parts = message.parts.map((part) => {
    if (part.part_type !== "tool_result") return part;
    const text = resultText(part.data);
    if (text.length <= previewLimit) return part;
    changed = true;
    const shown = { part_type: "text" as const, data: preview(text, part.data.tool_call_id) };
    return { ...part, data: { ...part.data, parts: [shown] } };
  });
  return changed ? { ...message, parts } : message;
}

/** The position, or the one before it if it is in the middle of a surrogate pair. */
export function wholeAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  const before = text.charCodeAt(at - 1);
  return code >= 0xdc00 && code <= 0xdfff && before >= 0xd800 && before <= 0xdbff ? at - 1 : at;
}
