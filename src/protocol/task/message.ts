// A message and its parts: what people, models and tools say to each other, on the wire and in history.

import { z } from "zod";

/** A part with `save: false` is not stored; one with `developer: true` is sent to the model but not shown to people. */
export const PartMetadata = z.object({
  save: z.boolean().default(true),
  developer: z.boolean().default(false),
});
export type PartMetadata = z.infer<typeof PartMetadata>;

/** Keyed by the index of the part. */
export const PartsMetadata = z.record(z.string().regex(/^(0|[1-9]\d*)$/, "must be the index of a part"), PartMetadata);
export type PartsMetadata = z.infer<typeof PartsMetadata>;

export const ToolCall = z.strictObject({
  tool_call_id: z.string(),
  tool_name: z.string(),
  input: z.unknown(),
});
export type ToolCall = z.infer<typeof ToolCall>;

/** Bytes travel as base64. */
export const FileContent = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("bytes"),
    bytes: z.string(),
    mime_type: z.string(),
    name: z.string().nullable().default(null),
  }),
  z.object({
    type: z.literal("url"),
    url: z.string(),
    mime_type: z.string(),
    name: z.string().nullable().default(null),
  }),
]);
export type FileContent = z.infer<typeof FileContent>;

/** Content that is stored outside the message. */
export const FileMetadata = z.object({
  file_id: z.string(),
  relative_path: z.string(),
  size: z.int().nonnegative(),
  content_type: z.string().nullable().default(null),
  original_filename: z.string().nullable().default(null),
  created_at: z.iso.datetime({ offset: true }),
  updated_at: z.iso.datetime({ offset: true }),
  checksum: z.string().nullable().default(null),
  stats: z.looseObject({ type: z.string() }).nullable().default(null),
  preview: z.string().nullable().default(null),
});
export type FileMetadata = z.infer<typeof FileMetadata>;

export const ResourceLink = z.object({
  uri: z.string(),
  mime_type: z.string().optional(),
  text: z.string().optional(),
  meta: z.unknown().optional(),
});
export type ResourceLink = z.infer<typeof ResourceLink>;

export const ToolResult = z.object({
  tool_call_id: z.string(),
  tool_name: z.string(),
  get parts() {
    return z.array(Part);
  },
  parts_metadata: PartsMetadata.optional(),
});
export type ToolResult = z.infer<typeof ToolResult>;

export const Part = z.discriminatedUnion("part_type", [
  z.object({ part_type: z.literal("text"), data: z.string() }),
  z.object({ part_type: z.literal("tool_call"), data: ToolCall }),
  z.object({ part_type: z.literal("tool_result"), data: ToolResult }),
  z.object({ part_type: z.literal("image"), data: FileContent }),
  z.object({ part_type: z.literal("file"), data: FileContent }),
  z.object({ part_type: z.literal("data"), data: z.unknown() }),
  z.object({ part_type: z.literal("artifact"), data: FileMetadata }),
  z.object({ part_type: z.literal("resource_link"), data: ResourceLink }),
]);
export type Part = z.infer<typeof Part>;

export const MessageRole = z.enum(["system", "assistant", "user", "tool", "developer"]);
export type MessageRole = z.infer<typeof MessageRole>;

/** As it arrives: `id` and `created_at` may be absent, since reading has no clock; see `completeMessage`. */
export const Message = z.object({
  id: z.string().optional(),
  name: z.string().nullable().default(null),
  role: MessageRole,
  parts: z.array(Part),
  created_at: z.int().optional(),
  agent_id: z.string().optional(),
  parts_metadata: PartsMetadata.optional(),
});
export type Message = z.infer<typeof Message>;

/** As it is stored: every message that is stored or sent on has its id and time. */
export const CompleteMessage = Message.extend({ id: z.string(), created_at: z.int() });
export type CompleteMessage = z.infer<typeof CompleteMessage>;

export function userMessage(text: string): Message {
  return { name: null, role: "user", parts: [{ part_type: "text", data: text }] };
}

/** Fills what is absent and keeps what is there. */
export function completeMessage(
  message: Message,
  fill: { readonly id: string; readonly now: number },
): CompleteMessage {
  return { ...message, id: message.id ?? fill.id, created_at: message.created_at ?? fill.now };
}

/** The text parts, a blank line between two of them; empty when there are none. */
export function messageText(message: Pick<Message, "parts">): string {
  return message.parts.flatMap((part) => (part.part_type === "text" ? [part.data] : [])).join("\n\n");
}

/** True when there is nothing to act on: no part, or only blank text. */
export function isBlankMessage(message: Pick<Message, "parts">): boolean {
  return message.parts.every((part) => part.part_type === "text" && part.data.trim() === "");
}

/** Only the parts `keep` accepts, in order; metadata follows its part to the new index. */
export function keepParts<T extends Pick<Message, "parts" | "parts_metadata">>(
  holder: T,
  keep: (part: Part, index: number) => boolean,
): T {
  const kept = holder.parts.flatMap((part, index) => (keep(part, index) ? [{ part, index }] : []));
  if (kept.length === holder.parts.length) return holder;
  const metadata = holder.parts_metadata;
  if (metadata === undefined) return { ...holder, parts: kept.map(({ part }) => part) };
  const moved: PartsMetadata = {};
  kept.forEach(({ index }, target) => {
    const entry = metadata[index];
    if (entry !== undefined) moved[target] = entry;
  });
  return { ...holder, parts: kept.map(({ part }) => part), parts_metadata: moved };
}

/** What may be stored of a message: parts marked `save: false` are left out, inside tool results too. */
export function savedMessage<T extends Message>(message: T): T {
  const saved = withoutUnsaved(message);
  return {
    ...saved,
    parts: saved.parts.map((part) =>
      part.part_type === "tool_result" ? { ...part, data: withoutUnsaved(part.data) } : part,
    ),
  };
}

function withoutUnsaved<T extends Pick<Message, "parts" | "parts_metadata">>(holder: T): T {
  return keepParts(holder, (_, index) => holder.parts_metadata?.[index]?.save !== false);
}
