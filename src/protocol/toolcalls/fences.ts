// Finds fence lines and what they open. Every search only moves forward, so that a whole reply costs one pass.
import type { Dialect, OpenerForm } from "./dialect.ts";
import { isSpace, skipSpace, trimmedEnd } from "../white-space.ts";

/** Position of the next occurrence at or after `from`, or the text's length. Calls must not go backwards. */
export type Finder = (from: number) => number;

export function finder(text: string, needle: string): Finder {
  let at = -1;
  return (from) => {
    if (at < from) {
      const found = text.indexOf(needle, from);
      at = found === -1 ? text.length : found;
    }
    return at;
  };
}

/** The nearest of several needles. */
export function nearest(text: string, needles: readonly string[]): Finder {
  const [only] = needles;
  if (only === undefined) return () => text.length;
  if (needles.length === 1) return finder(text, only);
  const finders = needles.map((needle) => finder(text, needle));
  return (from) => finders.reduce((best, find) => Math.min(best, find(from)), text.length);
}

/** The markers of a dialect that occur in the text, so that the others need not be searched for. */
export function markersIn(text: string, dialect: Dialect): readonly string[] {
  return dialect.markers.filter((marker) => text.includes(marker));
}

/** Position after the run of one character that begins at `at`. */
export function runEnd(text: string, at: number): number {
  const code = text.charCodeAt(at);
  let end = at + 1;
  while (end < text.length && text.charCodeAt(end) === code) end += 1;
  return end;
}

/**
 * Where the line of `at` begins, if there are only blanks before `at` on it; else -1. Nothing before `floor` is read;
 * `floorBlank` says whether the line is blank up to there.
 */
export function blankFrom(text: string, at: number, floor: number, floorBlank: boolean): number {
  let from = at;
  while (from > floor) {
    const code = text.charCodeAt(from - 1);
    if (code === 0x0a) return from;
    if (!isSpace(code)) return -1;
    from -= 1;
  }
  return floorBlank ? floor : -1;
}

export interface Host {
  readonly marker: string;
  readonly info: string;
  readonly form: OpenerForm;
}

const longestInfo = 80;

/** What a fence line opens; `at` is on its marker, `lineEnd` where the line ends. */
export function openerAt(text: string, at: number, lineEnd: number, dialect: Dialect): Host | undefined {
  const from = skipSpace(text, at + 3, lineEnd);
  const to = trimmedEnd(text, from, lineEnd);
  if (from === to || to - from > longestInfo) return undefined;
  const written = from === at + 3 ? text.slice(at, to) : text.slice(at, at + 3) + text.slice(from, to);
  const form = dialect.openers.get(written);
  if (form !== undefined) return { marker: written.slice(0, 3), info: written.slice(3), form };
  const { wordOpener } = dialect;
  if (wordOpener === undefined || !written.startsWith(wordOpener.opener)) return undefined;
  if (!wordOpener.word.test(written.slice(wordOpener.opener.length))) return undefined;
  return { marker: written.slice(0, 3), info: written.slice(3), form: "drifted" };
}

/** Whether the line is the marker of three at `at` and nothing else. */
export function isBareFence(text: string, at: number, lineEnd: number): boolean {
  return skipSpace(text, at + 3, lineEnd) >= lineEnd;
}

export interface BlockEnd {
  readonly bodyEnd: number;
  /** Where reading continues: after the closing line, or at the opener that ended the block. */
  readonly next: number;
  readonly ended: "closed" | "opener" | "eof";
}

export type BlockEnds = (bodyStart: number, marker: string) => BlockEnd;

/** Finds the ends of blocks, which must be asked for in their order in the text. */
export function blockEnds(text: string, dialect: Dialect, markers: readonly string[]): BlockEnds {
  const nextFence = nearest(text, markers);
  const nextLineBreak = finder(text, "\n");
  return (bodyStart, marker) => {
    let at = nextFence(bodyStart);
    while (at < text.length) {
      const lineStart = blankFrom(text, at, bodyStart, true);
      if (lineStart === -1) {
        at = nextFence(runEnd(text, at));
        continue;
      }
      const lineEnd = nextLineBreak(at);
      if (text.startsWith(marker, at) && isBareFence(text, at, lineEnd)) {
        return { bodyEnd: lineStart, next: Math.min(lineEnd + 1, text.length), ended: "closed" };
      }
      if (dialect.allows.openerClosesBlock && openerAt(text, at, lineEnd, dialect) !== undefined) {
        return { bodyEnd: lineStart, next: lineStart, ended: "opener" };
      }
      at = nextFence(runEnd(text, at));
    }
    return { bodyEnd: text.length, next: text.length, ended: "eof" };
  };
}

/**
 * The open fences of other languages: one with an info string opens, a bare one closes. Each is kept as its length,
 * negative for tildes, so that tildes and backticks never close each other.
 */
export interface ForeignFences {
  readonly open: number[];
}

export function openForeign(fences: ForeignFences, marker: number, length: number): void {
  fences.open.push(signed(marker, length));
}

/** A bare fence closes the innermost open fences of its character that are shorter, and then one of its own length. */
export function closeForeign(fences: ForeignFences, marker: number, length: number): void {
  const { open } = fences;
  const closer = signed(marker, length);
  const isShorter = (fence: number | undefined): boolean =>
    fence !== undefined && fence * closer > 0 && Math.abs(fence) < length;
  while (isShorter(open.at(-1))) open.pop();
  if (open.at(-1) === closer) open.pop();
}

function signed(marker: number, length: number): number {
  return marker === 0x7e ? -length : length;
}
