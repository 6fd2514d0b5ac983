// Reads JSON in which every object names each key once; a second value for a key could mean the opposite of the first.

import { type BoundedJson, type JsonLimits, readBoundedJson } from "./bounded-json.ts";

export type StrictJson =
  | { readonly ok: true; readonly value: unknown }
  | Extract<BoundedJson, { ok: false }>
  | { readonly ok: false; readonly fault: "duplicate_key"; readonly key: string };

/** Never throws; linear in `text`. */
export function readStrictJson(text: string, limits: JsonLimits): StrictJson {
  const read = readBoundedJson(text, limits);
  if (!read.ok) return read;
  if (!read.repeatsKey) return { ok: true, value: read.value };
  return { ok: false, fault: "duplicate_key", key: findRepeatedKey(text) };
}

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/** The first key that an object names a second time. The text must be JSON. */
function findRepeatedKey(text: string): string {
  /** The keys so far of each open object; undefined for an array. */
  const open: (Set<string> | undefined)[] = [];
  let isKey = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === openBrace || code === openBracket) {
      isKey = code === openBrace;
      open.push(isKey ? new Set() : undefined);
    } else if (code === closeBrace || code === closeBracket) open.pop();
    else if (code === comma) isKey = open.at(-1) !== undefined;
    else if (code === quote) {
      const end = endOfString(text, at);
      const keys = isKey ? open.at(-1) : undefined;
      isKey = false;
      if (keys !== undefined) {
        const key = String(JSON.parse(text.slice(at, end)));
        if (keys.has(key)) return key;
        keys.add(key);
      }
      at = end - 1;
    }
  }
  return "";
}

/** The position after the closing quote of the string that opens at `open`. */
function endOfString(text: string, open: number): number {
  let at = open + 1;
  while (at < text.length && text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1;
  return at + 1;
}
