// Finds added lines that hold what a line of the base's tests asks and expects together, as answers do that were written down.

import type { AddedLine } from "../core/suspect-lines.ts";

const why = "holds values that a test asks for and expects";
/** They stand everywhere. */
const plain = new Set(["0", "1", "2", "-1"]);
const literal = /(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g;
const number = /(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])/g;
const mostTexts = 2 * 1024 * 1024;
const mostValues = 50;

/** The reason for each line that has one, by its place in the list. `isWork`: whether a path is the work. */
export function writtenAnswers(
  added: readonly AddedLine[],
  tests: readonly string[],
  isWork: (path: string) => boolean,
): Map<number, string> {
  const asked = new Map<string, Set<number>>();
  let place = 0;
  let read = 0;
  for (const text of tests) {
    read += text.length;
    if (read > mostTexts) break;
    for (const line of text.split("\n")) {
      place += 1;
      const values = valuesOf(line);
      if (values.size < 2) continue;
      for (const value of values) asked.set(value, (asked.get(value) ?? new Set()).add(place));
    }
  }
  const found = new Map<number, string>();
  if (asked.size === 0) return found;
  for (const [at, line] of added.entries()) {
    if (!isWork(line.path)) continue;
    const before = added[at - 1];
    const own = valuesOf(line.text);
    const near =
      before?.path === line.path && before.line === line.line - 1 ? valuesOf(before.text) : new Set<string>();
    if (own.size > 0 && isOneLine(new Set([...own, ...near]), asked)) found.set(at, why);
  }
  return found;
}

/** Whether one line of the tests holds two of them. */
function isOneLine(values: ReadonlySet<string>, asked: ReadonlyMap<string, ReadonlySet<number>>): boolean {
  const seen = new Set<number>();
  for (const value of values) {
    const lines = asked.get(value);
    if (lines === undefined) continue;
    for (const line of lines) if (seen.has(line)) return true;
    for (const line of lines) seen.add(line);
  }
  return false;
}

/** Numbers, also within texts, and texts of several words. */
function valuesOf(line: string): Set<string> {
  const values = new Set<string>();
  if (/^\s*(?:import\b|from\b|\/\/|#|\*)/.test(line)) return values;
  for (const [found] of line.slice(0, 20_000).matchAll(literal)) {
    if (values.size >= mostValues) break;
    if (!/^["']/.test(found)) values.add(found);
    else if (/\S\s+\S/.test(found)) values.add(found.slice(1, -1));
    else for (const [inner] of found.matchAll(number)) values.add(inner);
  }
  for (const each of plain) values.delete(each);
  return values;
}
