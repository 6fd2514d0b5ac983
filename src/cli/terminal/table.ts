// Writes rows in columns: cut to the width of a terminal, in full when the output is piped.
import { shorten, widthOf } from "./fit.ts";
import { printableName } from "./printable.ts";
import { standardOutput, writeLine } from "./screen.ts";
import { bold, dim } from "./style.ts";

export interface Row {
  /** One character before the first cell. */
  readonly mark?: string;
  readonly cells: readonly string[];
}

const gap = "  ";

/** The first cell is an id that people copy, so it is never cut; of the others, the longest is cut first. */
export async function writeTable(rows: readonly Row[], head?: readonly string[]): Promise<void> {
  const shown = rows.map(({ mark, cells }) => ({ mark, cells: cells.map(printableName) }));
  const all = [...(head === undefined ? [] : [head]), ...shown.map(({ cells }) => cells)];
  const marked = rows.some(({ mark }) => mark !== undefined);
  const columns = Math.max(0, ...all.map((cells) => cells.length));
  const wanted = Array.from({ length: columns }, (_, at) =>
    Math.max(0, ...all.map((cells) => widthOf(cells[at] ?? ""))),
  );
  const room = standardOutput.isTerminal ? standardOutput.columns - 1 : Infinity;
  const widths = fitted(wanted, room - (marked ? 2 : 0) - gap.length * Math.max(0, columns - 1));
  const line = (cells: readonly string[]): string[] =>
    widths.map((width, at) => {
      const shown = shorten(cells[at] ?? "", width);
      return `${shown}${" ".repeat(Math.max(0, width - widthOf(shown)))}`;
    });
  if (head !== undefined) await writeLine(dim(`${marked ? "  " : ""}${line(head).join(gap)}`.trimEnd()));
  for (const { mark, cells } of shown) {
    const [first = "", ...rest] = line(cells);
    const before = marked ? `${mark ?? " "} ` : "";
    await writeLine(`${before}${bold(first)}${rest.length === 0 ? "" : gap}${rest.join(gap)}`.trimEnd());
  }
}

/** No column is cut below this width: on a very narrow screen, lines wrap instead. */
const narrowest = 6;

/** @internal Exported for its tests only. */
export function fitted(wanted: readonly number[], room: number): number[] {
  const widths = [...wanted];
  for (let over = wanted.reduce((all, width) => all + width, 0) - room; over > 0; over -= 1) {
    const rest = widths.slice(1);
    const widest = Math.max(0, ...rest);
    if (widest <= narrowest) return widths;
    widths[rest.indexOf(widest) + 1] = widest - 1;
  }
  return widths;
}
