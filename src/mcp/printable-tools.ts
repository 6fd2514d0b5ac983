// Takes out of a server's list the tools whose names could write to a terminal: the SDK prints such names when it leaves a tool out.

import type { Transport } from "@modelcontextprotocol/client";

import { escapeInvisible } from "../core/escape-invisible.ts";

const deepest = 64;

/** Call it when the client is connected, because connecting sets what takes the messages. */
export function dropUnprintableTools(transport: Transport): void {
  const deliver = transport.onmessage;
  if (deliver === undefined) return;
  transport.onmessage = (message, extra) => {
    if ("result" in message && Array.isArray(message.result["tools"])) {
      const tools = message.result["tools"].filter((tool) => isPrintable(tool));
      return deliver({ ...message, result: { ...message.result, tools } }, extra);
    }
    return deliver(message, extra);
  };
}

/** Looks at the name, and at what in the schema names something; descriptions are never printed as they are. */
function isPrintable(tool: unknown): boolean {
  if (typeof tool !== "object" || tool === null) return true;
  const name: unknown = "name" in tool ? tool.name : undefined;
  return isPlain(name) && hasPlainNames("inputSchema" in tool ? tool.inputSchema : undefined, 0);
}

function hasPlainNames(schema: unknown, depth: number): boolean {
  if (typeof schema !== "object" || schema === null) return true;
  if (depth > deepest) return false;
  return Object.entries(schema).every(
    ([key, value]) =>
      (Array.isArray(schema) || isPlain(key)) &&
      (key !== "x-mcp-header" || isPlain(value)) &&
      (key !== "type" || isPlain(value)) &&
      hasPlainNames(value, depth + 1),
  );
}

function isPlain(text: unknown): boolean {
  return typeof text !== "string" || (!/[\n\t]/.test(text) && escapeInvisible(text) === text);
}
