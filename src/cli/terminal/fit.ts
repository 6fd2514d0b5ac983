// Fits text into the width of a terminal.

const colorCode = new RegExp(`(${String.fromCharCode(27)}\\[\\d+m)`);
const segmenter = new Intl.Segmenter();

const graphemes = (text: string): string[] => Array.from(segmenter.segment(text), ({ segment }) => segment);

/** A terminal that does not know its size reports 0. */
export function sizeOf(stream: NodeJS.WriteStream): { readonly columns: number; readonly rows: number } {
  const { columns, rows } = stream;
  return { columns: columns > 0 ? columns : 80, rows: rows > 0 ? rows : 24 };
}

/** Cuts a line that is redrawn in place: a longer one would wrap, and the redraw would miss a line. Colour codes take no room. */
export function cut(line: string, width: number): string {
  let room = width - 1;
  return line
    .split(colorCode)
    .map((piece) => {
      if (colorCode.test(piece)) return piece;
      const shown = graphemes(piece).slice(0, Math.max(0, room));
      room -= shown.length;
      return shown.join("");
    })
    .join("");
}

/** At most `width` characters; the last one is an ellipsis when something is left out. */
export function shorten(text: string, width: number): string {
  const all = graphemes(text);
  return all.length <= width ? text : `${all.slice(0, Math.max(0, width - 1)).join("")}…`;
}
