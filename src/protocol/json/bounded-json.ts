// Reads JSON that a stranger sent: limited in length, depth and number of values, without numbers that would be stored as null.

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
      readonly fault: JsonFault;
      /** What the parser says about `bad_json`. */
      readonly reason?: string;
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
  const kept: Kept = { keys: 0, finite: true };
  inspect(value, kept);
  return kept.finite ? { ok: true, value, repeatsKey: kept.keys < keys } : { ok: false, fault: "number_out_of_range" };
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
  finite: boolean;
}

/** Counts the keys the parser kept, and looks for `1e999`, which it reads as Infinity and JSON writes as null. */
function inspect(value: unknown, kept: Kept): void {
  if (typeof value === "number") kept.finite &&= Number.isFinite(value);
  if (typeof value !== "object" || value === null) return;
  const isArray = Array.isArray(value);
  const items: readonly unknown[] = isArray ? value : Object.values(value);
  if (!isArray) kept.keys += items.length;
  for (const item of items) if (typeof item !== "string") inspect(item, kept);
}
