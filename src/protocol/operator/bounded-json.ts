// Reading JSON that a stranger sent: bounded in length, depth and number of values, and without numbers that would turn into null when kept.

export interface JsonBounds {
  /** UTF-16 code units. */
  readonly maxLength: number;
  readonly maxDepth: number;
  /** Objects, arrays and scalars together, give or take empty containers. */
  readonly maxValues: number;
}

export type JsonFault = "too_large" | "too_deep" | "too_many_values" | "bad_json" | "number_out_of_range";

export type BoundedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly fault: JsonFault };

/** Never throws; costs at most a few linear passes over `text`, and none at all past the length limit. */
export function readBoundedJson(text: string, bounds: JsonBounds): BoundedJson {
  if (text.length > bounds.maxLength) return { ok: false, fault: "too_large" };
  const exceeded = boundExceeded(text, bounds);
  if (exceeded !== undefined) return { ok: false, fault: exceeded };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, fault: "bad_json" };
  }
  return hasInfinity(value) ? { ok: false, fault: "number_out_of_range" } : { ok: true, value };
}

/**
 * Looks before parsing, because a megabyte of brackets costs a hundred times more to parse than to scan, and many small
 * values grow faster than their text. Structure is counted as if the text were JSON; if it is not, parsing says so.
 */
function boundExceeded(text: string, { maxDepth, maxValues }: JsonBounds): JsonFault | undefined {
  let depth = 0;
  let values = 1;
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
    if (depth > maxDepth) return "too_deep";
    if (values > maxValues) return "too_many_values";
  }
  return undefined;
}

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/** `1e999` parses to Infinity, which JSON writes as null. The recursion is safe: the depth was checked before. */
function hasInfinity(value: unknown): boolean {
  if (typeof value === "number") return !Number.isFinite(value);
  if (typeof value !== "object" || value === null) return false;
  return Array.isArray(value) ? value.some(hasInfinity) : Object.values(value).some(hasInfinity);
}
