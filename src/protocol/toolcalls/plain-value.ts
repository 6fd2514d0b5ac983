// Tells whether JSON.parse gave all that a text says and the format takes; if it may not have, the validator must look.
import { maxDepth } from "../json/scan-json.ts";
import { isJsonObject, type Json, type JsonObject } from "./tool-call.ts";

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];

/**
 * Follows the value through its text, which is [from, to) of `source`, member by member. False for deep nesting, numbers
 * that are not kept and halves of surrogate pairs; and for a key that is named again, because JSON.parse forgets the first
 * of its two values.
 */
export function isPlain(value: JsonObject, source: string, { from, to }: { from: number; to: number }): boolean {
  return pastContainer(value, { source, at: from, depth: 1 }) === to;
}

interface Place {
  readonly source: string;
  readonly at: number;
  readonly depth: number;
}

const notPlain = -1;

/** The position past the container whose bracket is at `at`. The source is known to be JSON. */
function pastContainer(value: JsonObject | readonly Json[], { source, at: open, depth }: Place): number {
  if (depth > maxDepth) return notPlain;
  let at = pastSpace(source, open + 1);
  let isFirst = true;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (!isFirst) at = pastSpace(source, at + 1);
      isFirst = false;
      at = pastItem(item, { source, at, depth });
      if (at === notPlain) return notPlain;
      at = pastSpace(source, at);
    }
    return at + 1;
  }
  if (!isJsonObject(value)) return notPlain;
  for (const key in value) {
    if (!isFirst) {
      if (source.charCodeAt(at) !== comma) return notPlain;
      at = pastSpace(source, at + 1);
    }
    isFirst = false;
    const end = at + 1 + key.length;
    if (!source.startsWith(key, at + 1) || source.charCodeAt(end) !== quote || !key.isWellFormed()) return notPlain;
    at = pastSpace(source, end + 1);
    if (source.charCodeAt(at) !== colon) return notPlain;
    at = pastItem(value[key] ?? null, { source, at: pastSpace(source, at + 1), depth });
    if (at === notPlain) return notPlain;
    at = pastSpace(source, at);
  }
  return source.charCodeAt(at) === comma ? notPlain : at + 1;
}

function pastItem(item: Json, place: Place): number {
  const { source, at, depth } = place;
  if (typeof item === "string") {
    return source.charCodeAt(at) === quote && item.isWellFormed() ? pastString(item, source, at) : notPlain;
  }
  if (typeof item === "number") {
    const isKept = Number.isSafeInteger(item) || (Number.isFinite(item) && !Number.isInteger(item));
    return isKept ? pastWord(source, at) : notPlain;
  }
  if (typeof item !== "object" || item === null) return pastWord(source, at);
  return pastContainer(item, { source, at, depth: depth + 1 });
}

/** Each character of a string takes at least one place in its text, so most of the text is not looked at. */
function pastString(value: string, source: string, at: number): number {
  let end = source.indexOf('"', at + 1 + value.length);
  while (isEscaped(source, end)) end = source.indexOf('"', end + 1);
  return end + 1;
}

function isEscaped(source: string, at: number): boolean {
  let backslashes = 0;
  while (source.charCodeAt(at - 1 - backslashes) === backslash) backslashes += 1;
  return backslashes % 2 === 1;
}

/** Past a number or one of the words `true`, `false` and `null`. */
function pastWord(source: string, from: number): number {
  let at = from;
  while (at < source.length && isOfWord(source.charCodeAt(at))) at += 1;
  return at;
}

/** Digits, small letters, `E`, a sign or a point. */
function isOfWord(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x61 && code <= 0x7a) ||
    code === 0x45 ||
    (code >= 0x2b && code <= 0x2e && code !== comma)
  );
}

function pastSpace(source: string, from: number): number {
  let at = from;
  while (source.charCodeAt(at) <= 0x20) at += 1;
  return at;
}
