// Text of a session as a page may show it: characters that are invisible, or that reorder a line, become visible marks.

/** A stretch of text; `hidden` is set for a mark that stands for a character which a reader would not have seen. */
export interface TextPiece {
  readonly text: string;
  readonly hidden: boolean;
}

/** Controls, characters without a shape, the marks that change the direction of text, and lone halves of characters. */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
const invisibleAll = new RegExp(invisible, "gu");

function staysAsItIs(found: string): boolean {
  return found === "\n" || found === "\t";
}

function markOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Line breaks and tabs stay; a carriage return before a line break goes, since it only says how lines end. */
export function visiblePieces(given: string): readonly TextPiece[] {
  const text = given.replaceAll("\r\n", "\n");
  if (!invisible.test(text)) return text === "" ? [] : [{ text, hidden: false }];
  const pieces: TextPiece[] = [];
  let plainFrom = 0;
  for (const match of text.matchAll(invisibleAll)) {
    if (staysAsItIs(match[0])) continue;
    if (match.index > plainFrom) pieces.push({ text: text.slice(plainFrom, match.index), hidden: false });
    pieces.push({ text: markOf(match[0]), hidden: true });
    plainFrom = match.index + match[0].length;
  }
  if (plainFrom < text.length) pieces.push({ text: text.slice(plainFrom), hidden: false });
  return pieces;
}

/** The same as one string, for names, titles and attributes, which are one line. */
export function visibleLine(text: string): string {
  return visiblePieces(text)
    .map((piece) => piece.text)
    .join("")
    .replaceAll(/[\n\t]+/g, " ");
}
