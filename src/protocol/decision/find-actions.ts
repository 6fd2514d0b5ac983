// Finds the action objects of a reply wherever they stand, reading each stretch of text at most twice.
import type { ActionName } from "./decision.ts";
import { endOfNumber, endOfString, isJsonSpace } from "../json/json-lexeme.ts";

/** A complete JSON object whose `action` is one the protocol knows. */
export interface ActionObject {
  readonly name: ActionName;
  readonly start: number;
  readonly end: number;
  /** It, or an object inside it, names a key of the protocol twice; which value counts would be a guess. */
  readonly ambiguous: boolean;
}

/**
 * What is known of a reply so far.
 *
 * A brace that some reading met outside a string literal is not read from again: a reading that started there would see
 * the same tokens, so its object was found already or is broken at the same place. A reading starts only at a brace that
 * all earlier readings met inside a string literal. Two readings of the same place are therefore in opposite states, one
 * inside a string and one outside, and there is no third: together they read at most twice the text.
 */
export interface ActionScan {
  readonly text: string;
  /** Per character: 0, or -1 for a brace met outside a string, or the number of the action object it opens, from 1. */
  readonly known: Int32Array;
  /** Where each action object ends, and its mask: plain numbers, because a reply may hold hundreds of thousands. */
  readonly ends: number[];
  readonly kinds: number[];
  readonly stack: Stack;
  /** Characters read in all. */
  scanned: number;
}

export function startScan(text: string): ActionScan {
  const stack = { starts: new Int32Array(maxDepth + 1), masks: new Int32Array(maxDepth + 1) };
  return { text, known: new Int32Array(text.length), ends: [], kinds: [], stack, scanned: 0 };
}

/** Reads from every opening brace not yet known; false when that would pass `limit` characters. */
export function scanRest(scan: ActionScan, limit: number): boolean {
  const { text } = scan;
  const last = scan.scanned + limit;
  for (let at = text.indexOf("{"); at !== -1; at = text.indexOf("{", at + 1)) {
    if (scan.known[at] !== 0) continue;
    const stop = Math.min(text.length, at + last - scan.scanned);
    if (scanFrom(scan, at, stop) === stop && stop < text.length) return false;
  }
  return true;
}

/** The action object that opens at `start`, once that brace was read. */
export function actionAt(scan: ActionScan, start: number): ActionObject | undefined {
  const index = (scan.known[start] ?? 0) - 1;
  const [end, kind] = [scan.ends[index], scan.kinds[index] ?? 0];
  const name = names[(kind >> nameShift) - 1];
  if (end === undefined || name === undefined) return undefined;
  return { name, start, end, ambiguous: (kind & ambiguousBit) !== 0 };
}

/** The action objects that are not inside another one, in order. The one at `except` is ignored, so those in it count. */
export function* outermostActions(scan: ActionScan, except = -1): Generator<ActionObject, undefined> {
  const { text, known } = scan;
  let end = 0;
  for (let at = text.indexOf("{"); at !== -1; at = text.indexOf("{", at + 1)) {
    if ((known[at] ?? 0) <= 0 || at === except) continue;
    const action = actionAt(scan, at);
    if (action === undefined || action.end <= end) continue;
    end = action.end;
    yield action;
  }
}

const names: readonly ActionName[] = ["delegate", "respond", "do_work"];
const keys: readonly string[] = ["action", "tasks", "message", "summary", "workdir", "prompt", "model"];
const longestWord = 8;

/** Objects with more levels than this are not read. One less than a power of two, so that it serves as a mask. */
const maxDepth = 127;

// One number per open object or array: a bit for each key seen, then these.
const ambiguousBit = 1 << 8;
const arrayBit = 1 << 9;
const nameShift = 10;

/** A ring buffer: past `maxDepth` open levels the outermost is overwritten, because an object that deep is not read. */
interface Stack {
  readonly starts: Int32Array;
  readonly masks: Int32Array;
}

type Expect = "value" | "value_or_end" | "key" | "key_or_end" | "colon" | "comma_or_end";

/** Reads the JSON object that opens at `start`, adds the action objects in it, and returns where reading ended. */
export function scanFrom(scan: ActionScan, start: number, stop: number = scan.text.length): number {
  if (scan.known[start] !== 0) return start;
  const end = readObject(scan, start, stop);
  scan.scanned += end - start;
  return end;
}

function readObject(scan: ActionScan, start: number, stop: number): number {
  const { text, known, ends, kinds } = scan;
  const { starts, masks } = scan.stack;
  let depth = 0;
  // The outermost levels up to this one hold too many others and were overwritten; reading ends on the way back to it.
  let lost = 0;
  let expect: Expect = "value";
  let key = -1;

  for (let at = start; at < stop;) {
    const code = text.charCodeAt(at);
    if (isJsonSpace(code)) {
      at += 1;
      continue;
    }
    const slot = depth & maxDepth;
    const mask = masks[slot] ?? 0;
    const inArray = (mask & arrayBit) !== 0;

    if (code === 0x22) {
      const end = endOfString(text, at, stop);
      if (end < 0) return ~end;
      if (expect === "key" || expect === "key_or_end") {
        key = indexOfLiteral(text, at, end, keys);
        if (key !== -1) masks[slot] = mask | (1 << key) | ((mask & (1 << key)) === 0 ? 0 : ambiguousBit);
        expect = "colon";
      } else if (expect === "value" || expect === "value_or_end") {
        if (key === 0 && !inArray) masks[slot] = withName(mask, indexOfLiteral(text, at, end, names));
        expect = "comma_or_end";
      } else return at;
      at = end;
      continue;
    }

    const wantsValue = expect === "value" || expect === "value_or_end";
    if (code === 0x7b || code === 0x5b) {
      if (!wantsValue) return at;
      depth += 1;
      if (depth - lost > maxDepth) lost += 1;
      const isArray = code === 0x5b;
      starts[depth & maxDepth] = at;
      masks[depth & maxDepth] = isArray ? arrayBit : 0;
      if (!isArray) known[at] = -1;
      expect = isArray ? "value_or_end" : "key_or_end";
    } else if (code === 0x7d || code === 0x5d) {
      const closesArray = code === 0x5d;
      const empty = closesArray ? "value_or_end" : "key_or_end";
      if (closesArray !== inArray || (expect !== "comma_or_end" && expect !== empty)) return at;
      if (mask >> nameShift !== 0) {
        known[starts[slot] ?? at] = ends.push(at + 1);
        kinds.push(mask);
      }
      depth -= 1;
      if (depth === lost) return at + 1;
      masks[depth & maxDepth] = (masks[depth & maxDepth] ?? 0) | (mask & ambiguousBit);
      expect = "comma_or_end";
    } else if (code === 0x2c) {
      if (expect !== "comma_or_end") return at;
      expect = inArray ? "value" : "key";
    } else if (code === 0x3a) {
      if (expect !== "colon") return at;
      expect = "value";
    } else {
      const end = wantsValue ? endOfScalar(text, at) : at;
      if (end === at) return at;
      expect = "comma_or_end";
      at = end;
      continue;
    }
    at += 1;
  }
  return stop;
}

/** Keeps the first known name: an object that gives two names is ambiguous, but it is still an action. */
function withName(mask: number, name: number): number {
  return name === -1 || mask >> nameShift !== 0 ? mask : mask | ((name + 1) << nameShift);
}

function endOfScalar(text: string, at: number): number {
  for (const word of ["true", "false", "null"]) if (text.startsWith(word, at)) return at + word.length;
  return endOfNumber(text, at);
}

/** The index in `words` of the string literal at [at, end), written plainly or with escapes; -1 if it is none of them. */
function indexOfLiteral(text: string, at: number, end: number, words: readonly string[]): number {
  const size = end - at - 2;
  const plain = words.findIndex((word) => word.length === size && text.startsWith(word, at + 1));
  // Each character of a word may be written as a six character escape.
  if (plain !== -1 || size > longestWord * 6 || !hasEscape(text, at, end)) return plain;
  const said: unknown = JSON.parse(text.slice(at, end));
  return words.findIndex((word) => word === said);
}

function hasEscape(text: string, at: number, end: number): boolean {
  for (let i = at; i < end; i += 1) if (text.charCodeAt(i) === 0x5c) return true;
  return false;
}
