// A part of a message as plain text, for formats, sizes and summaries.

import type { Part } from "../protocol/message.ts";

export function partText(part: Part): string {
  switch (part.part_type) {
    case "text":
      return part.data;
    case "tool_result":
      return part.data.parts.map(partText).join("\n");
    case "image":
    case "file":
      return `[${part.part_type} ${part.data.name ?? ""} ${part.data.mime_type}]`;
    default:
      return JSON.stringify(part.data) ?? "null";
  }
}
