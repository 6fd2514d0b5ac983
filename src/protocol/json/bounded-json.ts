// Reads JSON that a stranger sent: limited in length, depth and number of values, without numbers that JavaScript cannot hold.

import { unkeptNumber } from "./unkept-number.ts";

export interface JsonLimits {
  /** UTF-16 code units; unlimited when absent. */
  readonly maxLength?: number;
  /** Checking the value calls itself once per level, so this must stay far below what the stack holds. */
  readonly maxDepth: number;
  /** Objects, arrays and scalars together; an empty container counts as two. Unlimited when absent. */
  readonly maxValues?: number;
  /** The keys of all objects together; unlimited when absent. */
  readonly maxKeys?: number;
}

/** `too_many_values` also stands for too many keys. */
export type JsonFault = "too_large" | "too_deep" | "too_many_values" | "bad_json" | "number_out_of_range";

export type BoundedJson =
  | {
      readonly ok: true;
      readonly value: unknown;
      /** An object names a key twice; the value has only the last of the two. */
      readonly repeatsKey: boolean;
    }
  | {
      readonly ok: false;
      readonly fault: Exclude<JsonFault, "number_out_of_range">;
      /** What the parser says about `bad_json`. */
      readonly reason?: string;
    }
  | {
      readonly ok: false;
      readonly fault: "number_out_of_range";
      /** As it is written. */
      readonly number: string;
    };

/** Never throws; costs at most a few linear passes over `text`, and none at all past the length limit. */
export function readBoundedJson(text: string, limits: JsonLimits): BoundedJson {
  if (text.length > (limits.maxLength ?? Infinity)) return { ok: false, fault: "too_large" };
  const keys = countKeys(text, limits);
  if (typeof keys !== "number") return { ok: false, fault: keys };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    return { ok: false, fault: "bad_json", reason: thrown instanceof Error ? thrown.message : String(thrown) };
  }
  const kept: Kept = { keys: 0, exact: true };
  inspect(value, kept);
  const number = kept.exact ? undefined : unkeptNumber(text);
  if (number !== undefined) return { ok: false, fault: "number_out_of_range", number };
  return { ok: true, value, repeatsKey: kept.keys < keys };
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * How many keys the text names, each with a colon after it, or which limit it exceeds. This runs before the parser, because a megabyte of brackets
 * costs a hundred times more to parse than to scan, and because many small values take more memory than their text.
 * The text is scanned as if it were JSON; if it is not, the parser says so.
 */
function countKeys(
  text: string,
  { maxDepth, maxValues = Infinity, maxKeys = Infinity }: JsonLimits,
): number | "too_deep" | "too_many_values" {
  let depth = 0;
  let values = 1;
  let keys = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === backslash) at += 1;
      else if (code === quote) inString = false;
      continue;
    }
    if (code === quote) inString = true;
    else if (code === openBracket || code === openBrace) {
      depth += 1;
      values += 1;
    } else if (code === closeBracket || code === closeBrace) depth -= 1;
    else if (code === comma) values += 1;
    else if (code === colon) keys += 1;
    if (depth > maxDepth) return "too_deep";
    if (values > maxValues || keys > maxKeys) return "too_many_values";
  }
  return keys;
}

interface Kept {
  keys: number;
  /** False if a number may have been changed: most integers from 2^53 on lose digits, and `1e999` becomes Infinity. */
  exact: boolean;
}

/** Counts the keys the parser kept, and looks for numbers that it may have changed. */
function inspect(value: unknown, kept: Kept): void {
  if (typeof value === "number")
    kept.exact &&= Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
  if (typeof value !== "object" || value === null) return;
  const isArray = Array.isArray(value);
  const items: readonly unknown[] = isArray ? value : Object.values(value);
  if (!isArray) kept.keys += items.length;
  for (const item of items) if (typeof item !== "string") inspect(item, kept);
}
