// Reads the fields of one section out of a plain value: by any of their names, coerced where the meaning is clear.

import { readStrictJson } from "../json/strict-json.ts";
import { jsonLimits } from "./document.ts";
import { fieldNames, type FieldTable } from "./fields.ts";
import { excerpt, refuse, warn, type ReadNotes } from "./read-notes.ts";

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

export interface Cells {
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

/** Free content nested deeper than this would end the stack of whoever walks it. */
const deepest = 64;

export function openCells(table: FieldTable, value: unknown, place: SectionSource): Cells {
  const found = new Map<string, unknown>();
  const cells: Cells = { ...place, found };
  if (!isRecord(value)) {
    refuse(place.notes, place.path, `must be fields with names, got ${kindOf(value)}`);
    return cells;
  }
  const known = new Set(fieldNames(table));
  const aliases = new Map(Object.entries(table.aliases ?? {}));
  const seen = new Set<string>();
  for (const [key, cell] of Object.entries(value)) {
    const snake = key.replaceAll("-", "_");
    const name = known.has(snake) ? snake : aliases.get(snake);
    if (name === undefined) {
      warn(place.notes, `${pathTo(cells, excerpt(key))} is not a known field and was ignored`);
    } else if (seen.has(name)) {
      refuse(place.notes, pathTo(cells, name), "is given twice");
    } else {
      seen.add(name);
      if (cell !== null && cell !== undefined) found.set(name, cell);
    }
  }
  return cells;
}

/** Absent sections have no fields, so every default holds. */
export function openSection(cells: Cells, name: string, table: FieldTable): Cells {
  const place = { path: pathTo(cells, name), toon: cells.toon, notes: cells.notes };
  const value = cells.found.get(name);
  return value === undefined ? { ...place, found: new Map() } : openCells(table, value, place);
}

export function textCell(cells: Cells, name: string): string | undefined {
  const cell = cells.found.get(name);
  const value = isRecord(cell) && Object.keys(cell).length === 1 ? cell["value"] : cell;
  return value === undefined ? undefined : asText(value, pathTo(cells, name), cells.notes);
}

export function numberCell(cells: Cells, name: string): number | undefined {
  const value = cells.found.get(name);
  if (value === undefined) return undefined;
  const path = pathTo(cells, name);
  if (typeof value === "number" && Number.isFinite(value)) return value;
  // The bound on length keeps the pattern's cost in bounds too.
  if (typeof value === "string" && value.length <= 40 && /^\s*-?\d+(?:\.\d+)?(?:e[+-]?\d+)?\s*$/i.test(value)) {
    warn(cells.notes, `${path} is the text "${value.trim()}" and was read as a number`);
    const number = Number(value);
    if (Number.isFinite(number)) return number;
  }
  return refuse(cells.notes, path, `must be a number, got ${kindOf(value)}`);
}

export function flagCell(cells: Cells, name: string): boolean | undefined {
  const value = cells.found.get(name);
  if (value === undefined || typeof value === "boolean") return value;
  const path = pathTo(cells, name);
  if (value !== "true" && value !== "false") {
    return refuse(cells.notes, path, `must be true or false, got ${kindOf(value)}`);
  }
  warn(cells.notes, `${path} is the text "${value}" and was read as true or false`);
  return value === "true";
}

export function listCell(cells: Cells, name: string): string[] | undefined {
  const path = pathTo(cells, name);
  const cell = cells.found.get(name);
  const value = typeof cell === "string" ? (listInText(cell, path, cells.notes) ?? cell) : cell;
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) return refuse(cells.notes, path, `must be a list, got ${kindOf(value)}`);
  return value.flatMap((item: unknown, index) => asText(item, `${path}[${index}]`, cells.notes) ?? []);
}

export function choiceCell<C extends string>(cells: Cells, name: string, choices: readonly C[]): C | undefined {
  const value = cells.found.get(name);
  if (value === undefined) return undefined;
  const choice = choices.find((candidate) => candidate === value);
  if (choice !== undefined) return choice;
  return refuse(cells.notes, pathTo(cells, name), `must be one of ${choices.join(", ")}, got ${kindOf(value)}`);
}

export function anyCell(cells: Cells, name: string): Exclude<Json, null> | undefined {
  const value = cells.found.get(name);
  return value === undefined ? undefined : (asJson(value, pathTo(cells, name), { cells, depth: 0 }) ?? undefined);
}

function pathTo(cells: Cells, name: string): string {
  return cells.path === "" ? name : `${cells.path}.${name}`;
}

/** TOON reads an unquoted id such as 102 as a number, so numbers and truth values are taken by their text. */
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

function asJson(value: unknown, path: string, at: { cells: Cells; depth: number }): Json | undefined {
  const { notes, toon } = at.cells;
  if (at.depth > deepest) return refuse(notes, path, `is nested deeper than ${deepest} levels`);
  const inner = { cells: at.cells, depth: at.depth + 1 };
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
