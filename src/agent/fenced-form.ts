// A conversation as a model that calls tools in text sees it: its calls as fenced blocks, the results of a turn as one message.

import { isJsonObject, type Json } from "../protocol/toolcalls/tool-call.ts";
import { renderToolCall } from "../protocol/toolcalls/render-tool-call.ts";
import { renderToolContract } from "../protocol/toolcalls/render-tool-contract.ts";
import type { ToolDeclaration } from "../protocol/toolcalls/declare-tool.ts";
import type { CompleteMessage, Part, ToolResult } from "../protocol/message.ts";
import type { ModelTool } from "../ports.ts";
import { partText } from "./part-text.ts";

/** The name of the message that holds the results of one turn. */
const resultsName = "tool_results";

/** The instructions, then the contract that teaches the format. */
export function fencedSystem(instructions: string, tools: readonly ModelTool[]): string {
  const declared = tools.map(({ name, description, parameters }): ToolDeclaration => {
    const schema: unknown = parameters;
    return { name, description, ...(isJsonObject(schema) ? { parameters: schema } : {}) };
  });
  return `${instructions}\n\n${renderToolContract(declared)}`;
}

/** Consecutive results become one message, so the messages of a turn must be given together. */
export function fencedForm(messages: readonly CompleteMessage[]): CompleteMessage[] {
  const shown: CompleteMessage[] = [];
  let results: CompleteMessage[] = [];
  const flush = (): void => {
    if (results.length > 0) shown.push(resultsMessage(results));
    results = [];
  };
  for (const message of messages) {
    if (message.role === "tool") {
      results.push(message);
      continue;
    }
    flush();
    shown.push(message.role === "assistant" ? writtenReply(message) : message);
  }
  flush();
  return shown;
}

function writtenReply(message: CompleteMessage): CompleteMessage {
  if (message.parts.every((part) => part.part_type === "text")) return message;
  const text = message.parts.map(written).filter((part) => part !== "");
  const { parts_metadata: _, ...rest } = message;
  return { ...rest, parts: [{ part_type: "text", data: text.join("\n\n") }] };
}

/** Data in a reply is a provider's own, of no use to a model that reads text. */
function written(part: Part): string {
  if (part.part_type === "data") return "";
  if (part.part_type !== "tool_call") return partText(part);
  const { tool_name, input } = part.data;
  return renderToolCall(tool_name, isJsonObject(input) ? input : { value: asJson(input) });
}

function asJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value) ?? "null");
}

function resultsMessage(results: readonly CompleteMessage[]): CompleteMessage {
  const [first] = results;
  const parts = results.flatMap(({ parts: held }) => held);
  const text = parts.map((part) => (part.part_type === "tool_result" ? writtenResult(part.data) : partText(part)));
  return {
    id: first?.id ?? "",
    created_at: first?.created_at ?? 0,
    name: resultsName,
    role: "user",
    parts: [{ part_type: "text", data: text.join("\n\n") }],
  };
}

/** The call's id stands in both lines, since a turn may call one tool several times. */
function writtenResult({ tool_call_id, tool_name, parts }: ToolResult): string {
  const text = parts.map(partText).join("\n");
  return `[result of ${tool_name}, call ${tool_call_id}]\n${text}\n[end of result ${tool_call_id}]`;
}
