// The change from one text to another as lines of a unified diff, with three lines of context around each change.

type Line = readonly [mark: " " | "-" | "+", text: string];

const context = 3;
/** The most cells of the table that finds the common lines; beyond it the changed middle is shown as removed and added. */
const mostCells = 4_000_000;

/** Empty when nothing changes. A last line without a line break is followed by the usual note. */
export function unifiedDiff(before: string, after: string): string[] {
  if (before === after) return [];
  const [old, fresh] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start += 1;
  let end = 0;
  const rest = Math.min(old.length, fresh.length) - start;
  while (end < rest && old[old.length - 1 - end] === fresh[fresh.length - 1 - end]) end += 1;
  const same = (text: string): Line => [" ", text];
  const all: Line[] = [
    ...old.slice(0, start).map(same),
    ...changedLines(old.slice(start, old.length - end), fresh.slice(start, fresh.length - end)),
    ...old.slice(old.length - end).map(same),
  ];
  return hunks(all);
}

const noLineBreak = "\n\\ No newline at end of file";

/** The line break belongs to its line, so that a missing one at the end is a change. */
function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  const last = lines.pop() ?? "";
  return last === "" ? lines : [...lines, `${last}${noLineBreak}`];
}

function changedLines(old: readonly string[], fresh: readonly string[]): Line[] {
  if (old.length === 0 || fresh.length === 0 || old.length * fresh.length > mostCells) {
    return [...old.map((text): Line => ["-", text]), ...fresh.map((text): Line => ["+", text])];
  }
  const width = fresh.length + 1;
  const common = new Uint32Array((old.length + 1) * width);
  const at = (row: number, column: number): number => common[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = fresh.length - 1; column >= 0; column -= 1) {
      common[row * width + column] =
        old[row] === fresh[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const lines: Line[] = [];
  let [row, column] = [0, 0];
  while (row < old.length || column < fresh.length) {
    const [removed, added] = [old[row], fresh[column]];
    if (removed !== undefined && removed === added) {
      lines.push([" ", removed]);
      row += 1;
      column += 1;
    } else if (removed !== undefined && (added === undefined || at(row + 1, column) >= at(row, column + 1))) {
      lines.push(["-", removed]);
      row += 1;
    } else {
      lines.push(["+", added ?? ""]);
      column += 1;
    }
  }
  return lines;
}

function hunks(all: readonly Line[]): string[] {
  const shown = new Uint8Array(all.length);
  for (const [index, [mark]] of all.entries()) {
    if (mark !== " ") shown.fill(1, Math.max(0, index - context), index + context + 1);
  }
  const out: string[] = [];
  let [old, fresh] = [1, 1];
  for (let index = 0; index < all.length;) {
    const from = index;
    while (index < all.length && shown[index] === shown[from]) index += 1;
    const part = all.slice(from, index);
    const removed = part.filter(([mark]) => mark !== "+").length;
    const added = part.filter(([mark]) => mark !== "-").length;
    if (shown[from] === 1) {
      out.push(`@@ -${old},${removed} +${fresh},${added} @@`);
      // One by one: a call takes fewer arguments than a long file has lines.
      for (const [mark, text] of part) out.push(...render(mark, text));
    }
    old += removed;
    fresh += added;
  }
  return out;
}

function render(mark: Line[0], text: string): string[] {
  if (!text.endsWith(noLineBreak)) return [`${mark}${text}`];
  return [`${mark}${text.slice(0, -noLineBreak.length)}`, noLineBreak.slice(1)];
}
