// A part of a message as plain text, for the fenced format, for sizes and for summaries.

import type { Part } from "../../protocol/task/message.ts";

/** Most messages and results have one part; its text is returned as it is. */
export function joinParts(parts: readonly Part[], between: string, textOf: (part: Part) => string): string {
  const only = parts.length === 1 ? parts[0] : undefined;
  return only === undefined ? parts.map(textOf).join(between) : textOf(only);
}

export function partText(part: Part): string {
  switch (part.part_type) {
    case "text":
      return part.data;
    case "tool_result":
      return joinParts(part.data.parts, "\n", partText);
    case "image":
    case "file":
      return `[${part.part_type} ${part.data.name ?? ""} ${part.data.mime_type}]`;
    default:
      return JSON.stringify(part.data) ?? "null";
  }
}
