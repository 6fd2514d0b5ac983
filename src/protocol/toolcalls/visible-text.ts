// Sorts the text outside blocks into prose, which a person sees, and reasoning, as stretches of the reply.
import { blankFrom } from "./fences.ts";
import { skipSpace, trimmedEnd, trimSpace } from "../white-space.ts";

export interface VisibleText {
  readonly text: string;
  /** Start, end and kind (0 prose, 1 reasoning) of each stretch in turn; numbers, because a hostile reply may have millions. */
  readonly stretches: number[];
  /** All before this is reasoning and stays so: this many entries of `stretches`, up to this position. */
  settled: { readonly stretches: number; readonly at: number };
  /** Where the current run of prose begins, and whether its line is blank up to there. */
  runStart: number;
  runBlank: boolean;
  /** There was prose other than blanks. */
  any: boolean;
}

export function newVisibleText(text: string): VisibleText {
  return { text, stretches: [], settled: { stretches: 0, at: 0 }, runStart: 0, runBlank: true, any: false };
}

/** Where the line of `at` begins in the prose, if it is blank up to `at`; else -1. */
export function visibleLineStart(visible: VisibleText, at: number): number {
  return blankFrom(visible.text, at, visible.runStart, visible.runBlank);
}

/** Ends the current run of prose at `to`. */
export function show(visible: VisibleText, to: number): void {
  const { runStart: from, text } = visible;
  if (to <= from) return;
  visible.any ||= skipSpace(text, from, to) < to;
  visible.stretches.push(from, to, 0);
  visible.runStart = to;
}

export function hide(visible: VisibleText, from: number, to: number): void {
  visible.stretches.push(from, to, 1);
}

/** Begins the next run; the text between the two runs is not prose. */
export function resume(visible: VisibleText, from: number, blank: boolean): void {
  visible.runStart = from;
  visible.runBlank = blank;
}

/** Everything before the tag at [from, to) turns out to be reasoning, blocks included. */
export function hideAll(visible: VisibleText, from: number, to: number): void {
  visible.stretches.length = visible.settled.stretches;
  hide(visible, visible.settled.at, from);
  visible.settled = { stretches: visible.stretches.length, at: to };
  visible.any = false;
}

export function joinVisible(visible: VisibleText): { prose: string; reasoning: string } {
  const { text, stretches } = visible;
  let thoughts = "";
  for (let index = 0; index < stretches.length; index += 3) {
    if (stretches[index + 2] === 0) continue;
    const thought = trimSpace(text.slice(stretches[index], stretches[index + 1]));
    if (thought !== "") thoughts += thoughts === "" ? thought : `\n${thought}`;
  }
  return { prose: joinProse(visible), reasoning: unixLines(thoughts) };
}

/** Trims the parts before they are joined, because looking into the joined text would copy all of it. */
function joinProse({ text, stretches }: VisibleText): string {
  let last = stretches.length - 3;
  let end = 0;
  for (; last >= 0; last -= 3) {
    const from = stretches[last] ?? 0;
    end = trimmedEnd(text, from, stretches[last + 1] ?? 0);
    if (stretches[last + 2] === 0 && end > from) break;
  }
  let prose = "";
  let hasReturns = false;
  for (let index = 0; index <= last; index += 3) {
    if (stretches[index + 2] !== 0) continue;
    const to = index === last ? end : (stretches[index + 1] ?? 0);
    const from = stretches[index] ?? 0;
    const part = text.slice(prose === "" ? skipSpace(text, from, to) : from, to);
    hasReturns ||= part.includes("\r");
    prose += part;
  }
  return hasReturns ? unixLines(prose) : prose;
}

function unixLines(text: string): string {
  return text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text;
}
