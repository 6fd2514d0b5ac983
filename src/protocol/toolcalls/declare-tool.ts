// Writes a tool's JSON Schema as a TypeScript declaration, which models read better than the schema itself.
import { isJsonObject, type Json, type JsonObject } from "./tool-call.ts";

export interface ToolDeclaration {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments object. */
  readonly parameters?: JsonObject;
}

/** Types shared by the declarations of one contract. */
export interface SharedTypes {
  /** Declaration text by name, in the order the names were given out. */
  readonly declared: Map<string, string>;
  /** The name of each shared type, by its reference and the definitions that reference can reach. */
  readonly names: Map<string, string>;
}

interface Context {
  readonly root: JsonObject;
  readonly shared: SharedTypes;
  readonly tool: string;
}

/** Types nested deeper than this are written as `unknown`. */
const maxDepth = 24;

export function declareTool(tool: ToolDeclaration, shared: SharedTypes): string {
  const root = tool.parameters ?? {};
  const context: Context = { root, shared, tool: tool.name };
  const properties = isJsonObject(root["properties"]) ? root["properties"] : undefined;
  const hasArguments = root["$ref"] !== undefined || root["anyOf"] !== undefined || root["oneOf"] !== undefined;
  const empty = properties === undefined || Object.keys(properties).length === 0;
  const args = empty && !hasArguments && root["additionalProperties"] === undefined ? "{}" : typeOf(root, context, 0);
  const optional = args === "{}" ? "?" : "";
  const written = identifier(tool.name);
  // A name that is not an identifier is declared under a similar one, so a comment gives the name to call it by.
  const note = written === tool.name ? "" : `// "name": ${JSON.stringify(tool.name)}\n`;
  return `${note}${comment(tool.description, "")}declare function ${written}(args${optional}: ${args}): string;`;
}

function typeOf(schema: Json | undefined, context: Context, depth: number): string {
  if (schema === false) return "never";
  if (!isJsonObject(schema) || depth > maxDepth) return "unknown";
  if (typeof schema["$ref"] === "string") return aliasOf(schema["$ref"], context);
  if (schema["const"] !== undefined) return JSON.stringify(schema["const"]);
  if (Array.isArray(schema["enum"])) return union(schema["enum"].map((value: Json) => JSON.stringify(value)));
  const choices = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(choices)) return union(choices.map((choice: Json) => typeOf(choice, context, depth + 1)));
  if (Array.isArray(schema["allOf"])) {
    const parts = schema["allOf"].map((part: Json) => typeOf(part, context, depth + 1)).map(grouped);
    if (isJsonObject(schema["properties"])) parts.push(objectType(schema, context, depth));
    return parts.length > 0 ? parts.join(" & ") : "unknown";
  }
  const type = schema["type"];
  if (Array.isArray(type)) {
    return union(type.map((each: Json) => typeOf({ ...schema, type: each }, context, depth + 1)));
  }
  switch (type) {
    case "string":
      return "string";
    case "number":
    case "integer":
      return "number";
    case "boolean":
      return "boolean";
    case "null":
      return "null";
    case "array":
      return arrayType(schema, context, depth);
    default:
      return type === "object" || isJsonObject(schema["properties"]) ? objectType(schema, context, depth) : "unknown";
  }
}

function union(members: readonly string[]): string {
  const distinct = [...new Set(members)];
  return distinct.length > 0 ? distinct.join(" | ") : "never";
}

function grouped(type: string): string {
  return / [|&] /.test(type) && !type.startsWith("{") ? `(${type})` : type;
}

function arrayType(schema: JsonObject, context: Context, depth: number): string {
  const tuple = schema["prefixItems"];
  if (Array.isArray(tuple)) return `[${tuple.map((item: Json) => typeOf(item, context, depth + 1)).join(", ")}]`;
  const item = typeOf(schema["items"], context, depth + 1);
  return / [|&] /.test(item) ? `(${item})[]` : `${item}[]`;
}

function objectType(schema: JsonObject, context: Context, depth: number): string {
  const properties = isJsonObject(schema["properties"]) ? Object.entries(schema["properties"]) : [];
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
  const indent = "  ".repeat(depth + 1);
  const ordered = [
    ...properties.filter(([name]) => required.has(name)),
    ...properties.filter(([name]) => !required.has(name)),
  ];
  const lines = ordered.map(([name, property]) => {
    const description = isJsonObject(property) ? notes(property) : undefined;
    const mark = required.has(name) ? "" : "?";
    return `${comment(description, indent)}${indent}${propertyName(name)}${mark}: ${typeOf(property, context, depth + 1)};`;
  });
  const rest = schema["additionalProperties"];
  if (rest === true || (rest === undefined && lines.length === 0)) lines.push(`${indent}[key: string]: unknown;`);
  else if (isJsonObject(rest)) lines.push(`${indent}[key: string]: ${typeOf(rest, context, depth + 1)};`);
  return lines.length === 0 ? "{}" : `{\n${lines.join("\n")}\n${"  ".repeat(depth)}}`;
}

/** The name of the shared type for a reference. It is reserved before its text is written, so a schema may refer to itself. */
function aliasOf(reference: string, context: Context): string {
  const { root, shared } = context;
  const target = resolveReference(reference, root);
  if (target === undefined) return "unknown";
  // Two tools may use one name for different types, so a type is identified by all definitions its reference can reach.
  const meant = `${reference} ${scopeOf(reference, root)}`;
  const known = shared.names.get(meant);
  if (known !== undefined) return known;
  const last = reference === "#" ? `${context.tool}_args` : (reference.split("/").at(-1) ?? "shared");
  const base = identifier(unescapePointer(last));
  let name = base;
  for (let count = 2; shared.declared.has(name); count += 1) name = `${base}_${count}`;
  shared.names.set(meant, name);
  shared.declared.set(name, "");
  const note = isJsonObject(target) ? comment(notes(target), "") : "";
  shared.declared.set(name, `${note}type ${name} = ${typeOf(target, context, 0)};`);
  return name;
}

function scopeOf(reference: string, root: JsonObject): string {
  const holder = ["$defs", "definitions"].find((key) => reference.startsWith(`#/${key}/`));
  const definitions = JSON.stringify(holder === undefined ? root : root[holder]);
  const staysInside = !/"\$ref":"(?!#\/(?:\$defs|definitions)\/)/.test(definitions);
  return staysInside ? definitions : JSON.stringify(root);
}

export function resolveReference(reference: string, root: JsonObject): Json | undefined {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let value: Json | undefined = root;
  for (const segment of reference.slice(2).split("/")) {
    if (!isJsonObject(value)) return undefined;
    const key = unescapePointer(segment);
    value = Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return value;
}

function unescapePointer(segment: string): string {
  return segment.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** Description, format, bounds and default, which a type cannot express. */
function notes(schema: JsonObject): string | undefined {
  const parts: string[] = [];
  if (typeof schema["description"] === "string") parts.push(schema["description"]);
  if (schema["type"] === "integer") parts.push("Whole number.");
  for (const key of [
    "format",
    "pattern",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "default",
  ]) {
    if (schema[key] !== undefined) parts.push(`${key}: ${JSON.stringify(schema[key])}`);
  }
  return parts.length > 0 ? parts.join(" ") : undefined;
}

function comment(description: string | undefined, indent: string): string {
  const text = description?.trim().replaceAll("*/", "*\\/") ?? "";
  if (text === "") return "";
  const lines = text.split(/\r?\n/);
  if (lines.length === 1) return `${indent}/** ${text} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join("\n")}\n${indent} */\n`;
}

function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

/** The name with every character replaced that an identifier cannot have. */
function identifier(name: string): string {
  const safe = name.replaceAll(/[^\p{L}\p{N}_$]/gu, "_");
  return /^[\p{L}_$]/u.test(safe) ? safe : `_${safe}`;
}
