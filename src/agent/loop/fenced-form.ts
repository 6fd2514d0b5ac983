// A conversation as a model that calls tools in text sees it: its calls as fenced blocks, the results of a turn as one message.

import { isJsonObject, type Json } from "../../protocol/toolcalls/tool-call.ts";
import { renderToolCall } from "../../protocol/toolcalls/render-tool-call.ts";
import { renderToolContract } from "../../protocol/toolcalls/render-tool-contract.ts";
import type { ToolDeclaration } from "../../protocol/toolcalls/declare-tool.ts";
import type { CompleteMessage, Part, ToolResult } from "../../protocol/task/message.ts";
import type { ModelTool } from "../../ports.ts";
import { joined, partText } from "./part-text.ts";

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

/** Adds the messages to those in this form. Consecutive results become one, so the messages of a turn must be given together. */
export function addFenced(shown: CompleteMessage[], messages: readonly CompleteMessage[]): void {
  let results: { readonly first: CompleteMessage; text: string } | undefined;
  for (const message of messages) {
    if (message.role === "tool") {
      const text = writtenResults(message);
      if (results === undefined) results = { first: message, text };
      else results.text += `\n\n${text}`;
      continue;
    }
    if (results !== undefined) shown.push(resultsMessage(results.first, results.text));
    results = undefined;
    shown.push(message.role === "assistant" ? writtenReply(message) : message);
  }
  if (results !== undefined) shown.push(resultsMessage(results.first, results.text));
}

function writtenReply(message: CompleteMessage): CompleteMessage {
  if (message.parts.every((part) => part.part_type === "text")) return message;
  let text = "";
  for (const part of message.parts) {
    const piece = written(part);
    text = text === "" || piece === "" ? text + piece : `${text}\n\n${piece}`;
  }
  const shown: CompleteMessage = { ...message, parts: [{ part_type: "text", data: text }] };
  // It speaks of parts that are no longer apart.
  if (shown.parts_metadata !== undefined) delete shown.parts_metadata;
  return shown;
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

function resultsMessage({ id, created_at }: CompleteMessage, text: string): CompleteMessage {
  return { id, created_at, name: resultsName, role: "user", parts: [{ part_type: "text", data: text }] };
}

function writtenResults({ parts }: CompleteMessage): string {
  return joined(parts, "\n\n", (part) =>
    part.part_type === "tool_result" ? writtenResult(part.data) : partText(part),
  );
}

/** The call's id stands in both lines, since a turn may call one tool several times. */
function writtenResult({ tool_call_id, tool_name, parts }: ToolResult): string {
  const text = joined(parts, "\n", partText);
  return `[result of ${tool_name}, call ${tool_call_id}]\n${text}\n[end of result ${tool_call_id}]`;
}
