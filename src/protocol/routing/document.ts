// Turns the input of a reader into a plain value: from JSON or TOON text, told apart by how it begins, or from a plain value.

import { readStrictJson } from "../json/strict-json.ts";
import { fieldNames, type FieldTable } from "./field-tables.ts";
import { excerpt, refuse, type ReadNotes } from "./read-notes.ts";
import { decodeToon } from "./toon.ts";

export interface Document {
  readonly value: unknown;
  /** TOON has no lists in brackets, so there a text like `["A", "B"]` was meant as a list. */
  readonly toon: boolean;
}

/** Far more than an envelope needs. Every line costs the decoder time, however short it is. */
const toonLines = 100_000;

/** The parser's cost grows faster than the text with nesting and with keys; within these limits it is linear. */
export const jsonLimits = { maxDepth: 100, maxKeys: 100_000 };

/** Returns undefined if the text was refused; the notes then have the error. */
export function openDocument(input: unknown, table: FieldTable, notes: ReadNotes): Document | undefined {
  if (typeof input !== "string") return { value: input, toon: false };
  const text = unfenced(input);
  const first = text.search(/\S/);
  if (first === -1) return refuse(notes, "", "is empty");
  const toon = text[first] !== "{" && text[first] !== "[";
  const value = toon ? openToon(text, table, notes) : openJson(text, notes);
  return notes.error === undefined ? { value, toon } : undefined;
}

/** Models like to put a document between fences; a pair around the whole text is removed. */
function unfenced(input: string): string {
  const text = input.charCodeAt(0) === 0xfeff ? input.slice(1) : input;
  const start = text.search(/\S/);
  if (!text.startsWith("```", start)) return text;
  const firstEnd = text.indexOf("\n", start);
  const lastStart = text.lastIndexOf("\n```");
  if (firstEnd === -1 || lastStart < firstEnd || /\S/.test(text.slice(lastStart + 4))) return text;
  return text.slice(firstEnd + 1, lastStart);
}

function openJson(text: string, notes: ReadNotes): unknown {
  const read = readStrictJson(text, jsonLimits);
  if (read.ok) return read.value;
  switch (read.fault) {
    case "duplicate_key":
      return refuse(notes, excerpt(read.key), "is given twice");
    case "bad_json":
      return refuse(notes, "", `is not valid JSON: ${excerpt(read.reason ?? "", 200)}`);
    case "too_deep":
      return refuse(notes, "", `is nested deeper than ${jsonLimits.maxDepth} levels`);
    case "too_many_values":
      return refuse(notes, "", `has more than ${jsonLimits.maxKeys} keys`);
    case "number_out_of_range":
      return refuse(notes, "", `holds the number ${read.number}, which cannot be kept as it is; write it as text`);
    case "too_large":
      return refuse(notes, "", "is too long");
  }
}

function openToon(text: string, table: FieldTable, notes: ReadNotes): unknown {
  if (hasMoreLines(text, toonLines)) return refuse(notes, "", `has more than ${toonLines} lines; write it as JSON`);
  const lines = text.split("\n");
  const [only, ...others] = lines.filter((line) => /^\s*[^\s#]/.test(line)).slice(0, 2);
  if (only !== undefined && others.length === 0 && swallowsFields(only, table)) {
    return refuse(notes, "", "is written on one line; give every field a line of its own");
  }
  return decodeToon(lines, notes);
}

function hasMoreLines(text: string, most: number): boolean {
  let at = -1;
  for (let line = 0; line < most; line += 1) {
    at = text.indexOf("\n", at + 1);
    if (at === -1) return false;
  }
  return true;
}

/** Written on one line, the first field would take all others as its text. */
function swallowsFields(line: string, table: FieldTable): boolean {
  const names = allNames(table).map((name) => name.replaceAll("_", "[-_]"));
  const another = new RegExp(`\\s(?:${names.join("|")})(?:\\[\\d{0,9}\\])?:`);
  return another.test(line.slice(line.indexOf(":") + 1));
}

function allNames(table: FieldTable): string[] {
  const inside = Object.values(table.section ?? {}).flatMap(allNames);
  return [...fieldNames(table), ...Object.keys(table.aliases ?? {}), ...inside];
}
