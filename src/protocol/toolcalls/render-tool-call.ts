// Writes a call in the fenced format, so that reading it gives the same call back.
import { isJsonObject, type Json, type JsonObject } from "./tool-call.ts";

export function renderToolCall(name: string, args: JsonObject): string {
  return `\`\`\`tool\n{"name":${JSON.stringify(name)},"args":${render(args)}}\n\`\`\``;
}

function render(value: Json): string {
  return hasLargeInteger(value) ? renderSlowly(value) : JSON.stringify(value);
}

/** JSON.stringify pads large doubles with zeros to integers they are not equal to; those are refused when read. */
function hasLargeInteger(value: Json): boolean {
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.values<Json>(value).some(hasLargeInteger);
}

function renderSlowly(value: Json): string {
  if (typeof value === "number") return hasLargeInteger(value) ? value.toExponential() : JSON.stringify(value);
  if (isJsonObject(value)) {
    const members = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${renderSlowly(item)}`);
    return `{${members.join(",")}}`;
  }
  if (Array.isArray(value)) return `[${value.map(renderSlowly).join(",")}]`;
  return JSON.stringify(value);
}
