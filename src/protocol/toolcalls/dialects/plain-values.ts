// Gives a value that a dialect writes as plain text the type that the tool's JSON Schema asks for.
import { resolveReference } from "../declare-tool.ts";
import { isJsonObject, type Json, type JsonObject } from "../tool-call.ts";
import { trimSpace } from "../../white-space.ts";
import { jsonAt, type ToolSchemas } from "./dialect-reading.ts";
import { readPythonContainer } from "./python-calls.ts";

/** Schemas that refer to one another are followed this deep. */
const maxDepth = 12;

/**
 * The text itself if the schema takes only text, or says nothing; else the value the text stands for. A text that is no
 * value of the wanted type stays text, and the tool refuses it.
 */
export function typedValue(
  written: string,
  place: { readonly tool: string; readonly key: string; readonly schemas: ToolSchemas | undefined },
): Json {
  const root = place.schemas?.get(place.tool);
  if (root === undefined) return written;
  const types = new Set<string>();
  collectTypes(propertyOf(root, root, { key: place.key, depth: 0 }), root, { types, depth: 0 });
  if (types.size === 0 || (types.size === 1 && types.has("string"))) return written;
  const value = valueOf(trimSpace(written));
  return value !== undefined && types.has(typeOf(value)) ? value : written;
}

function propertyOf(
  schema: Json | undefined,
  root: JsonObject,
  { key, depth }: { readonly key: string; readonly depth: number },
): Json | undefined {
  if (!isJsonObject(schema) || depth > maxDepth) return undefined;
  const properties = schema["properties"];
  if (isJsonObject(properties) && Object.hasOwn(properties, key)) return properties[key];
  const reference = schema["$ref"];
  const inner = typeof reference === "string" ? [resolveReference(reference, root)] : [];
  for (const part of [...inner, ...partsOf(schema)]) {
    const found = propertyOf(part, root, { key, depth: depth + 1 });
    if (found !== undefined) return found;
  }
  return schema["additionalProperties"];
}

function partsOf(schema: JsonObject): Json[] {
  return ["anyOf", "oneOf", "allOf"].flatMap((key) => {
    const parts = schema[key];
    return Array.isArray(parts) ? parts.map((part: Json) => part) : [];
  });
}

function collectTypes(
  schema: Json | undefined,
  root: JsonObject,
  { types, depth }: { readonly types: Set<string>; readonly depth: number },
): void {
  if (!isJsonObject(schema) || depth > maxDepth) return;
  const reference = schema["$ref"];
  if (typeof reference === "string") {
    collectTypes(resolveReference(reference, root), root, { types, depth: depth + 1 });
  }
  const declared = schema["type"];
  for (const type of Array.isArray(declared) ? declared : [declared]) {
    if (typeof type !== "string") continue;
    types.add(type);
    if (type === "number") types.add("integer");
  }
  if (declared === undefined) {
    const allowed = schema["const"] === undefined ? schema["enum"] : [schema["const"]];
    if (Array.isArray(allowed)) for (const value of allowed) types.add(typeOf(value));
  }
  for (const part of partsOf(schema)) collectTypes(part, root, { types, depth: depth + 1 });
}

function typeOf(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

const words: Readonly<Record<string, Json>> = { True: true, False: false, None: null };

/** JSON, or a value as Python prints it, which some templates write; undefined if the text is neither. */
function valueOf(written: string): Json | undefined {
  if (Object.hasOwn(words, written)) return words[written];
  const read = jsonAt(written, 0);
  return read.ok && read.end === written.length ? read.value : readPythonContainer(written);
}
