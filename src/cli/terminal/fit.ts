// Fits text into the width of a terminal.
import { printableName } from "./printable.ts";
import { joinPieces, piecesOf } from "./style.ts";

const segmenter = new Intl.Segmenter();

const graphemes = (text: string): string[] => Array.from(segmenter.segment(text), ({ segment }) => segment);

/** Cuts a line that is redrawn in place: a longer one would wrap, and the redraw would miss a line. Colours take no room. */
export function cut(line: string, width: number): string {
  let room = width - 1;
  return joinPieces(
    piecesOf(line).map((piece, index) => {
      if (index % 2 === 1) return piece;
      const shown = graphemes(printableName(piece)).slice(0, Math.max(0, room));
      room -= shown.length;
      return shown.join("");
    }),
  );
}

/** At most `width` characters; the last one is an ellipsis when something is left out. */
export function shorten(text: string, width: number): string {
  const all = graphemes(text);
  return all.length <= width ? text : `${all.slice(0, Math.max(0, width - 1)).join("")}…`;
}
