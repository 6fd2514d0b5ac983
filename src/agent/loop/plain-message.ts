// A fast schema for messages: it recognises the usual ones without the cost of full validation.

import { CompleteMessage, type Message, MessageRole, type Part } from "../../protocol/task/message.ts";
import type { Schema } from "../../ports.ts";

/** Gives the same as `CompleteMessage` for every value. */
export const RecordedMessage: Schema<CompleteMessage> = {
  parse: (value) => (isPlainMessage(value) ? value : CompleteMessage.parse(value)),
};

const roles: ReadonlySet<unknown> = new Set(MessageRole.options);

// In the order of the schemas, which is the order of the fields they return: a request must be the same, to the letter,
// after its messages were read back from the record.
const messageFields = ["id", "name", "role", "parts", "created_at", "agent_id"];
const partFields = ["part_type", "data"];
const callFields = ["tool_call_id", "tool_name", "input"];
const resultFields = ["tool_call_id", "tool_name", "parts"];

/** True only when `CompleteMessage` would return an equal value with its fields in the same order; false says nothing. */
export function isPlainMessage(value: unknown): value is CompleteMessage {
  if (!isObject(value) || !hasFields(value, messageFields, "agent_id")) return false;
  const { id, name, role, parts, created_at, agent_id } = value;
  return (
    typeof id === "string" &&
    (name === null || typeof name === "string") &&
    roles.has(role) &&
    arePlain(parts) &&
    Number.isSafeInteger(created_at) &&
    (agent_id === undefined || typeof agent_id === "string")
  );
}

const openingFields = ["name", "role", "parts", "created_at"];

/** True only when `Message` would return an equal value: one with neither an id nor an agent, with or without its time. */
export function isPlainOpening(value: unknown): value is Message {
  if (!isObject(value) || !hasFields(value, openingFields, "created_at")) return false;
  const { name, role, parts, created_at } = value;
  const isNamed = name === null || typeof name === "string";
  const isTimed = created_at === undefined || Number.isSafeInteger(created_at);
  return isNamed && isTimed && roles.has(role) && arePlain(parts);
}

function arePlain(parts: unknown): parts is Part[] {
  return Array.isArray(parts) && parts.every(isPlainPart);
}

function isPlainPart(part: unknown): part is Part {
  if (!isObject(part) || !hasFields(part, partFields)) return false;
  const { part_type, data } = part;
  switch (part_type) {
    case "text":
      return typeof data === "string";
    case "data":
      return true;
    case "tool_call":
      return isObject(data) && hasFields(data, callFields) && hasNames(data);
    case "tool_result":
      return isObject(data) && hasFields(data, resultFields) && hasNames(data) && arePlain(data["parts"]);
    default:
      return false;
  }
}

function hasNames({ tool_call_id, tool_name }: Readonly<Record<string, unknown>>): boolean {
  return typeof tool_call_id === "string" && typeof tool_name === "string";
}

/** Whether the object has exactly these fields in this order; the last one may be optional. */
export function hasFields(value: object, fields: readonly string[], optional?: string): boolean {
  let count = 0;
  for (const key in value) {
    if (key !== fields[count]) return false;
    count += 1;
  }
  return count === fields.length || fields[count] === optional;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
