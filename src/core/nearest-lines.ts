// Finds the lines of a text that come closest to a piece that is not in it, and how they differ from the piece.

export interface NearLines {
  /** The first and the last line, counted from 1. */
  readonly from: number;
  readonly to: number;
  readonly differs: "only in blanks" | "only in upper and lower case" | "in words";
  /** The lines as they are in the text. */
  readonly text: string;
  /** The first line that differs, in the piece and in the text. */
  readonly wanted: string;
  readonly found: string;
}

const shownPlaces = 3;
const shownText = 2_000;
const shownLine = 300;
/** Lines with a lower similarity are unrelated. */
const minSimilarity = 0.5;
/** How many lines are compared by their letters; further ones are not. */
const comparedLines = 20_000;

/** The best places first; none if nothing is similar. Linear in the text. */
export function nearestLines(text: string, piece: string): NearLines[] {
  const lines = text.split("\n");
  const wanted = trimBlank(piece.split("\n"));
  if (wanted.length === 0) return [];
  const scores = scoresOf(lines, wanted);
  const best = [...scores].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, shownPlaces);
  const top = best[0]?.[1] ?? 0;
  // Places with half the score of the best would only distract from it.
  return best.filter(([, score]) => score > top / 2).map(([start]) => near(lines, wanted, start));
}

/** Blank lines at both ends say nothing about where a piece belongs. */
function trimBlank(lines: readonly string[]): readonly string[] {
  const from = lines.findIndex((line) => line.trim() !== "");
  return from === -1 ? [] : lines.slice(from, lines.findLastIndex((line) => line.trim() !== "") + 1);
}

/** The score of each line as the start of the piece: each line that the piece and the text share votes for the start it implies. */
function scoresOf(lines: readonly string[], wanted: readonly string[]): Map<number, number> {
  const places = new Map<string, number[]>();
  const lastStart = Math.max(0, lines.length - wanted.length);
  for (const [offset, line] of wanted.entries()) {
    const key = plain(line);
    if (key === "") continue;
    const known = places.get(key);
    if (known === undefined) places.set(key, [offset]);
    // A line that occurs often in the piece, such as a bracket, tells little, so it votes for a few starts only.
    else if (known.length < 4) known.push(offset);
  }
  const scores = new Map<number, number>();
  const vote = (start: number, worth: number): void => {
    const at = Math.min(Math.max(0, start), lastStart);
    scores.set(at, (scores.get(at) ?? 0) + worth);
  };
  for (const [index, line] of lines.entries()) {
    const key = plain(line);
    for (const offset of places.get(key) ?? []) vote(index - offset, Math.min(key.length, 40));
  }
  if (scores.size === 0) voteByLetters(lines, wanted, vote);
  return scores;
}

/** For a text that shares no line with the piece: searches for the longest line of the piece by its pairs of letters. */
function voteByLetters(
  lines: readonly string[],
  wanted: readonly string[],
  vote: (start: number, worth: number) => void,
): void {
  const offset = wanted.reduce((best, line, at) => (line.length > (wanted[best] ?? "").length ? at : best), 0);
  const looked = pairsOf(plain(wanted[offset] ?? ""));
  if (looked.size === 0) return;
  for (const [index, line] of lines.slice(0, comparedLines).entries()) {
    const alike = likeness(looked, pairsOf(plain(line)));
    if (alike >= minSimilarity) vote(index - offset, alike);
  }
}

function pairsOf(line: string): Set<string> {
  const text = line.slice(0, shownLine);
  const pairs = new Set<string>();
  for (let at = 0; at + 1 < text.length; at += 1) pairs.add(text.slice(at, at + 2));
  return pairs;
}

function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let shared = 0;
  for (const pair of other) if (one.has(pair)) shared += 1;
  return one.size + other.size === 0 ? 0 : (2 * shared) / (one.size + other.size);
}

/** The line without blanks, in lower case. */
function plain(line: string): string {
  return withoutBlanks(line).toLowerCase();
}

function withoutBlanks(line: string): string {
  return line.replaceAll(/\s+/g, "");
}

function near(lines: readonly string[], wanted: readonly string[], start: number): NearLines {
  const found = lines.slice(start, start + wanted.length);
  const at = wanted.findIndex((line, index) => line !== found[index]);
  const everyLine = (same: (one: string, other: string) => boolean): boolean =>
    found.length === wanted.length && wanted.every((line, index) => same(line, found[index] ?? ""));
  const inBlanks = everyLine((one, other) => withoutBlanks(one) === withoutBlanks(other));
  const inCase = everyLine((one, other) => plain(one) === plain(other));
  return {
    from: start + 1,
    to: start + found.length,
    differs: inBlanks ? "only in blanks" : inCase ? "only in upper and lower case" : "in words",
    text: cut(found.join("\n"), shownText),
    wanted: cut(wanted[Math.max(0, at)] ?? "", shownLine),
    found: cut(found[Math.max(0, at)] ?? "", shownLine),
  };
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`;
}
