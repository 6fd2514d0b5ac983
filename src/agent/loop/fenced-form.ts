// A conversation in the fenced format: calls are fenced blocks in the text, and the results of a turn are one message.

import { isJsonObject, type Json } from "../../protocol/toolcalls/tool-call.ts";
import { renderToolCall } from "../../protocol/toolcalls/render-tool-call.ts";
import { renderToolContract } from "../../protocol/toolcalls/render-tool-contract.ts";
import type { ToolDeclaration } from "../../protocol/toolcalls/declare-tool.ts";
import type { CompleteMessage, Part, ToolResult } from "../../protocol/task/message.ts";
import { toolResultsName } from "../../core/tool-results-name.ts";
import type { ModelTool } from "../../model-port.ts";
import { joinParts, partText } from "./part-text.ts";

/** The instructions, then the contract that teaches the format. */
export function fencedSystem(instructions: string, tools: readonly ModelTool[]): string {
  const declared = tools.map(({ name, description, parameters }): ToolDeclaration => {
    const schema: unknown = parameters;
    return { name, description, ...(isJsonObject(schema) ? { parameters: schema } : {}) };
  });
  return `${instructions}\n\n${renderToolContract(declared)}`;
}

/** Adds the messages to `formatted`. Consecutive results become one message, so those of a turn must be given together. */
export function addFenced(formatted: CompleteMessage[], messages: readonly CompleteMessage[]): void {
  let results: { readonly first: CompleteMessage; text: string } | undefined;
  for (const message of messages) {
    if (message.role === "tool") {
      const text = renderResults(message);
      if (results === undefined) results = { first: message, text };
      else results.text += `\n\n${text}`;
      continue;
    }
    if (results !== undefined) formatted.push(resultsMessage(results.first, results.text));
    results = undefined;
    formatted.push(message.role === "assistant" ? renderReply(message) : message);
  }
  if (results !== undefined) formatted.push(resultsMessage(results.first, results.text));
}

function renderReply(message: CompleteMessage): CompleteMessage {
  if (message.parts.every((part) => part.part_type === "text")) return message;
  let text = "";
  for (const part of message.parts) {
    const piece = renderPart(part);
    text = text === "" || piece === "" ? text + piece : `${text}\n\n${piece}`;
  }
  const rendered: CompleteMessage = { ...message, parts: [{ part_type: "text", data: text }] };
  // The metadata refers to parts that are now one.
  if (rendered.parts_metadata !== undefined) delete rendered.parts_metadata;
  return rendered;
}

/** Data in a reply is a provider's own state, of no use to a model that reads text. */
function renderPart(part: Part): string {
  if (part.part_type === "data") return "";
  if (part.part_type !== "tool_call") return partText(part);
  const { tool_name, input } = part.data;
  return renderToolCall(tool_name, isJsonObject(input) ? input : { value: asJson(input) });
}

function asJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value) ?? "null");
}

function resultsMessage({ id, created_at }: CompleteMessage, text: string): CompleteMessage {
  return { id, created_at, name: toolResultsName, role: "user", parts: [{ part_type: "text", data: text }] };
}

function renderResults({ parts }: CompleteMessage): string {
  return joinParts(parts, "\n\n", (part) =>
    part.part_type === "tool_result" ? renderResult(part.data) : partText(part),
  );
}

/** The call's id is in both lines, since a turn may call one tool several times. */
function renderResult({ tool_call_id, tool_name, parts }: ToolResult): string {
  const text = joinParts(parts, "\n", partText);
  return `[result of ${tool_name}, call ${tool_call_id}]\n${text}\n[end of result ${tool_call_id}]`;
}
