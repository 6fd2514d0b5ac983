// Reads the fields of a section from a plain value: by any of their names, converted where the meaning is clear.

import { readStrictJson } from "../json/strict-json.ts";
import { jsonLimits } from "./document.ts";
import { fieldNames, type FieldTable } from "./field-tables.ts";
import { excerpt, refuse, warn, type ReadNotes } from "./read-notes.ts";

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

export interface SectionFields {
  readonly path: string;
  readonly notes: ReadNotes;
  readonly toon: boolean;
  /** By canonical name; absent and null fields are not in it. */
  readonly found: ReadonlyMap<string, unknown>;
}

interface SectionSource {
  readonly path: string;
  readonly toon: boolean;
  readonly notes: ReadNotes;
}

/** Free content nested deeper than this could overflow the stack of code that walks it. */
const maxDepth = 64;

export function openFields(table: FieldTable, value: unknown, place: SectionSource): SectionFields {
  const found = new Map<string, unknown>();
  const fields: SectionFields = { ...place, found };
  if (!isRecord(value)) {
    refuse(place.notes, place.path, `must be fields with names, got ${kindOf(value)}`);
    return fields;
  }
  const known = new Set(fieldNames(table));
  const aliases = new Map(Object.entries(table.aliases ?? {}));
  const seen = new Set<string>();
  for (const [key, given] of Object.entries(value)) {
    const snake = key.replaceAll("-", "_");
    const name = known.has(snake) ? snake : aliases.get(snake);
    if (name === undefined) {
      warn(place.notes, `${pathTo(fields, excerpt(key))} is not a known field and was ignored`);
    } else if (seen.has(name)) {
      refuse(place.notes, pathTo(fields, name), "is given twice");
    } else {
      seen.add(name);
      if (given !== null && given !== undefined) found.set(name, given);
    }
  }
  return fields;
}

/** An absent section has no fields, so every default applies. */
export function openSection(fields: SectionFields, name: string, table: FieldTable): SectionFields {
  const place = { path: pathTo(fields, name), toon: fields.toon, notes: fields.notes };
  const value = fields.found.get(name);
  return value === undefined ? { ...place, found: new Map() } : openFields(table, value, place);
}

export function textField(fields: SectionFields, name: string): string | undefined {
  const given = fields.found.get(name);
  const value = isRecord(given) && Object.keys(given).length === 1 ? given["value"] : given;
  return value === undefined ? undefined : asText(value, pathTo(fields, name), fields.notes);
}

export function numberField(fields: SectionFields, name: string): number | undefined {
  const value = fields.found.get(name);
  if (value === undefined) return undefined;
  const path = pathTo(fields, name);
  if (typeof value === "number" && Number.isFinite(value)) return value;
  // The limit on the length also limits the cost of the pattern.
  if (typeof value === "string" && value.length <= 40 && /^\s*-?\d+(?:\.\d+)?(?:e[+-]?\d+)?\s*$/i.test(value)) {
    warn(fields.notes, `${path} is the text "${value.trim()}" and was read as a number`);
    const number = Number(value);
    if (Number.isFinite(number)) return number;
  }
  return refuse(fields.notes, path, `must be a number, got ${kindOf(value)}`);
}

export function flagField(fields: SectionFields, name: string): boolean | undefined {
  const value = fields.found.get(name);
  if (value === undefined || typeof value === "boolean") return value;
  const path = pathTo(fields, name);
  if (value !== "true" && value !== "false") {
    return refuse(fields.notes, path, `must be true or false, got ${kindOf(value)}`);
  }
  warn(fields.notes, `${path} is the text "${value}" and was read as true or false`);
  return value === "true";
}

export function listField(fields: SectionFields, name: string): string[] | undefined {
  const path = pathTo(fields, name);
  const given = fields.found.get(name);
  const value = typeof given === "string" ? (listInText(given, path, fields.notes) ?? given) : given;
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) return refuse(fields.notes, path, `must be a list, got ${kindOf(value)}`);
  return value.flatMap((item: unknown, index) => asText(item, `${path}[${index}]`, fields.notes) ?? []);
}

export function choiceField<C extends string>(
  fields: SectionFields,
  name: string,
  choices: readonly C[],
): C | undefined {
  const value = fields.found.get(name);
  if (value === undefined) return undefined;
  const choice = choices.find((candidate) => candidate === value);
  if (choice !== undefined) return choice;
  return refuse(fields.notes, pathTo(fields, name), `must be one of ${choices.join(", ")}, got ${kindOf(value)}`);
}

export function anyField(fields: SectionFields, name: string): Exclude<Json, null> | undefined {
  const value = fields.found.get(name);
  return value === undefined ? undefined : (asJson(value, pathTo(fields, name), { fields, depth: 0 }) ?? undefined);
}

function pathTo(fields: SectionFields, name: string): string {
  return fields.path === "" ? name : `${fields.path}.${name}`;
}

/** TOON reads an unquoted id such as 102 as a number, so numbers and booleans are converted to text. */
function asText(value: unknown, path: string, notes: ReadNotes): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return refuse(notes, path, "is a number too large to be read exactly; put it in quotes");
  }
  if (typeof value !== "boolean" && !(typeof value === "number" && Number.isFinite(value))) {
    return refuse(notes, path, `must be text, got ${kindOf(value)}`);
  }
  warn(notes, `${path} is ${String(value)} without quotes and was read as text`);
  return String(value);
}

function asJson(value: unknown, path: string, at: { fields: SectionFields; depth: number }): Json | undefined {
  const { notes, toon } = at.fields;
  if (at.depth > maxDepth) return refuse(notes, path, `is nested deeper than ${maxDepth} levels`);
  const inner = { fields: at.fields, depth: at.depth + 1 };
  const list = toon && typeof value === "string" ? listInText(value, path, notes) : undefined;
  if (list !== undefined) return asJson(list, path, inner);
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (Array.isArray(value))
    return value.map((item: unknown, index) => asJson(item, `${path}[${index}]`, inner) ?? null);
  if (!isRecord(value)) return refuse(notes, path, `must be plain data, got ${kindOf(value)}`);
  const entries: [string, Json][] = [];
  for (const [key, item] of Object.entries(value)) {
    if (key === "__proto__") warn(notes, `${path}.__proto__ is not a usable name and was ignored`);
    else if (item !== undefined) entries.push([key, asJson(item, `${path}.${excerpt(key)}`, inner) ?? null]);
  }
  return Object.fromEntries(entries);
}

function listInText(text: string, path: string, notes: ReadNotes): unknown[] | undefined {
  if (!/^\s*\[/.test(text)) return undefined;
  const read = readStrictJson(text, jsonLimits);
  if (!read.ok || !Array.isArray(read.value)) return undefined;
  warn(notes, `${path} is a text that holds a list and was read as the list`);
  return read.value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function kindOf(value: unknown): string {
  if (typeof value === "string") return `the text "${excerpt(value, 40)}"`;
  if (Array.isArray(value)) return "a list";
  if (value === null || value === undefined) return "nothing";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
