// What a person agrees to about the tools of a server: what each says of itself. And the names that they have here.

import { createHash } from "node:crypto";

import { z } from "zod";

import { mcpPrefix } from "../protocol/invocation/mcp-servers.ts";
import { canonicalHash } from "./canonical-hash.ts";

/** A tool as its server describes it. Longer texts and schemas are refused, because models would have to read them. */
export const OfferedTool = z.object({
  name: z.string().min(1).max(256),
  description: z.string().max(32_000).default(""),
  inputSchema: z.record(z.string(), z.unknown()),
  /** What the server claims about the tool. It is shown to people and decides nothing. */
  annotations: z.record(z.string(), z.unknown()).optional(),
});
export type OfferedTool = z.infer<typeof OfferedTool>;

/** Changes with the name, the description and the schema of the tool. */
export function toolHash({ name, description, inputSchema }: OfferedTool): string {
  return canonicalHash({ name, description, inputSchema });
}

/** Changes with any of the tools, whatever their order. */
export function toolsHash(tools: readonly OfferedTool[]): string {
  return sha256(tools.map(toolHash).toSorted().join());
}

const longestName = 64;

/**
 * The name under which models call a tool. Providers take 64 letters, digits, `_` and `-`; a name that does not fit is cut
 * and ends with a part of its hash, so that two tools never share one.
 */
export function toolName(server: string, tool: string): string {
  const plain = `${mcpPrefix}${server}__${tool}`;
  const safe = plain.replaceAll(/[^A-Za-z0-9_-]/g, "_");
  if (safe === plain && plain.length <= longestName) return plain;
  return `${safe.slice(0, longestName - 9)}_${sha256(plain).slice(0, 8)}`;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
