// Fits text into the width of a terminal.
import { printableName } from "./printable.ts";
import { joinPieces, piecesOf } from "./style.ts";

const segmenter = new Intl.Segmenter();

export const graphemes = (text: string): string[] => Array.from(segmenter.segment(text), ({ segment }) => segment);

/** Characters that take two columns: those of East Asian scripts, and emoji. */
const wide =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|.\ufe0f)/u;
const plain = /^[\u0020-\u007e]*$/;

/** How many columns of a terminal the text takes. */
export function widthOf(text: string): number {
  if (plain.test(text)) return text.length;
  return graphemes(text).reduce((width, each) => width + (wide.test(each) ? 2 : 1), 0);
}

/** Cuts a line that is redrawn in place: a longer one would wrap, and the redraw would miss a line. Colours take no room. */
export function cut(line: string, width: number): string {
  let room = width - 1;
  return joinPieces(
    piecesOf(line).map((piece, index) => {
      if (index % 2 === 1) return piece;
      const shown = fitting(printableName(piece), Math.max(0, room));
      room -= widthOf(shown);
      return shown;
    }),
  );
}

/** At most `width` columns; the last character is an ellipsis when something is left out. */
export function shorten(text: string, width: number): string {
  return widthOf(text) <= width ? text : `${fitting(text, Math.max(0, width - 1))}…`;
}

/** As many characters from the beginning as fit. */
function fitting(text: string, width: number): string {
  let room = width;
  let shown = "";
  for (const each of graphemes(text)) {
    room -= widthOf(each);
    if (room < 0) break;
    shown += each;
  }
  return shown;
}
