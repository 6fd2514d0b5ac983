// What a model is told of a server's answer: its texts and its structured part, bounded; of images and sounds only that they are there.

import { z } from "zod";

import { TuttiError } from "../protocol/error.ts";

/** More than this of one answer is not even kept; the record of a call must not fill the disk. */
const longestText = 2_000_000;
const mostParts = 1_000;

const Part = z.union([
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.enum(["image", "audio"]), data: z.string(), mimeType: z.string() }),
  z.object({
    type: z.literal("resource"),
    resource: z.object({
      uri: z.string(),
      mimeType: z.string().optional(),
      text: z.string().optional(),
      blob: z.string().optional(),
    }),
  }),
  z.object({ type: z.literal("resource_link"), uri: z.string(), name: z.string().optional() }),
  z.looseObject({ type: z.string() }),
]);
const Answer = z.object({
  content: z.array(Part).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});

/** Throws `step_failed` when the server says that the call failed. */
export function resultOf(server: string, value: unknown): unknown {
  const parsed = Answer.safeParse(value);
  if (!parsed.success)
    throw new TuttiError("step_failed", `the MCP server ${server} gave an answer that cannot be read`);
  const { content, structuredContent, isError } = parsed.data;
  const text = bounded(content.slice(0, mostParts).map(partText).join("\n"));
  if (isError === true)
    throw new TuttiError("step_failed", `the MCP server ${server} says: ${text || "the call failed"}`);
  if (structuredContent === undefined) return text;
  const structured = JSON.stringify(structuredContent) ?? "null";
  if (structured.length > longestText) return text;
  // Servers send the same thing as text, for clients that read only that.
  return isSame(text, structuredContent) ? structuredContent : { text, structured: structuredContent };
}

/** The texts of a resource, or what is said of it when it is none. */
export function resourceText(contents: readonly unknown[]): string {
  const parts = contents.slice(0, mostParts).map((resource) => Part.safeParse({ type: "resource", resource }));
  return bounded(parts.map((part) => (part.success ? partText(part.data) : "[what cannot be read]")).join("\n"));
}

/** A list or a prompt as the server gave it; its text, cut, when it is too long to be kept whole. */
export function boundedValue(value: unknown): unknown {
  const text = JSON.stringify(value) ?? "null";
  return text.length <= longestText ? value : bounded(text);
}

function partText(part: z.infer<typeof Part>): string {
  if ("text" in part && typeof part.text === "string") return part.text;
  if ("data" in part && typeof part.data === "string") {
    return `[${part.type}, ${String(part["mimeType"])}, ${bytesOf(part.data)} bytes: it cannot be shown]`;
  }
  if ("resource" in part && typeof part.resource === "object" && part.resource !== null) {
    const { uri, text, blob, mimeType } = z
      .object({
        uri: z.string(),
        text: z.string().optional(),
        blob: z.string().optional(),
        mimeType: z.string().optional(),
      })
      .parse(part.resource);
    if (text !== undefined) return text;
    return `[${uri}, ${mimeType ?? "of an unknown kind"}, ${bytesOf(blob ?? "")} bytes: it cannot be shown]`;
  }
  if ("uri" in part) return `[a resource: ${String(part.uri)}]`;
  return `[${part.type.slice(0, 64)}: it cannot be shown]`;
}

function bytesOf(base64: string): number {
  return Math.floor((base64.length * 3) / 4);
}

function bounded(text: string): string {
  if (text.length <= longestText) return text;
  return `${text.slice(0, longestText)}\n[the rest of ${text.length} characters was not kept]`;
}

function isSame(text: string, value: unknown): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(value);
  } catch {
    return false;
  }
}
