// The arguments of a session's call as text: all of them, and first those that change how something is run.

import { escapeInvisible } from "../../core/escape-invisible.ts";

/** Names of arguments that are shown first. Those that it misses are shown as well, only later. */
const changesHow =
  /sandbox|danger|unsafe|bypass|permission|approv|trust|escalat|privilege|sudo|disable|skip|force|yolo|env|cwd|dir$|directory|folder|root|arg|stdin|shell|user|host|network|header|url/i;

/** Whether the argument, or one inside of it, changes how something is run. */
export function isHow(name: string, value: unknown): boolean {
  return changesHow.test(name) || (isObject(value) && Object.entries(value).some(([inner, of]) => isHow(inner, of)));
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * JSON with such names first. Texts that stand elsewhere in the question are named instead of repeated; as these names
 * stand outside of quotation marks, no argument can imitate one.
 */
export function argumentText(value: unknown, known: ReadonlyMap<string, string>, indent = ""): string {
  if (typeof value === "string") return known.get(value) ?? escapeInvisible(JSON.stringify(value));
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const inner = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((each) => `${inner}${argumentText(each, known, inner)}`)
    : inOrder(Object.entries(value)).map(
        ([name, each]) => `${inner}${escapeInvisible(JSON.stringify(name))}: ${argumentText(each, known, inner)}`,
      );
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  return parts.length === 0 ? `${open}${close}` : `${open}\n${parts.join(",\n")}\n${indent}${close}`;
}

type Entry = readonly [name: string, value: unknown];

function inOrder(entries: readonly Entry[]): Entry[] {
  const how = (entry: Entry): boolean => isHow(...entry);
  return [...entries.filter(how), ...entries.filter((entry) => !how(entry))];
}
