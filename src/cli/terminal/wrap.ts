// Breaks text into lines that fit a terminal, each with its indent. Colours take no room, and nothing but spaces is lost.
import { graphemes, widthOf } from "./fit.ts";
import { printable } from "./printable.ts";
import { joinPieces, piecesOf } from "./style.ts";

export interface WrapOptions {
  /** In columns; Infinity for a file or another program. */
  readonly width: number;
  /** Columns before every line. */
  readonly indent?: number;
  /** Further columns before every line of the result but the first. */
  readonly hang?: number;
}

/** However deep something is indented, this much of a line is left for text. */
const leastRoom = 16;
/** Fewer columns of a word are not worth beginning it in a row. */
const leastPart = 8;

export function wrapped(text: string, options: WrapOptions): string {
  return wrappedLines(text, options).join("\n");
}

/** Lines of the text stay lines, and keep the spaces they begin with, also in the rows in which they go on. */
function wrappedLines(text: string, { width, indent = 0, hang = 0 }: WrapOptions): string[] {
  const most = Math.max(0, width - leastRoom);
  return linesOf(text).flatMap((line, index) => {
    const first = Math.min(index === 0 ? indent : indent + hang, most);
    const later = Math.min(indent + hang + ownIndent(line), most);
    const rows = width === Infinity ? [line] : rowsOf(line, { first: width - first, later: width - later, fill: true });
    return rows.map((row, at) => (row === "" ? "" : `${" ".repeat(at === 0 ? first : later)}${row}`));
  });
}

/** The spaces before a line, and before the text of an item. */
function ownIndent(line: string): number {
  const text = piecesOf(line)
    .filter((_, index) => index % 2 === 0)
    .join("");
  return /^ *(?:- (?=\S))?/.exec(text)?.[0].length ?? 0;
}

/** A colour that spans lines ends with its own mark, so lines can be taken apart without a look at colours. */
function linesOf(text: string): string[] {
  const pieces = piecesOf(text).map((piece, index) => (index % 2 === 0 ? printable(piece) : piece));
  return joinPieces(pieces).replaceAll("\t", "    ").split("\n");
}

interface Room {
  readonly first: number;
  readonly later: number;
  /**
   * A word that fits no row, such as a path, begins in the row of the words before it. For whole lines only: while a line is
   * being written, its last word may still grow.
   */
  readonly fill?: boolean;
}

/** All rows but the last stay as they are when text is added to the line. */
export function rowsOf(line: string, { first, later, fill = false }: Room): string[] {
  const rows: string[] = [];
  let row = "";
  let used = 0;
  /** Spaces are written only when a word follows them. */
  let spaces = "";
  const room = (): number => (rows.length === 0 ? first : later);
  const endRow = (): void => {
    rows.push(row);
    [row, used, spaces] = ["", 0, ""];
  };
  for (const { text, width, isSpace } of wordsOf(line)) {
    if (isSpace) {
      spaces += text;
      continue;
    }
    // A colour that begins or ends between words: spaces look the same in every colour.
    if (width === 0) {
      row += text;
      continue;
    }
    const fits = used + spaces.length + width <= room();
    const begins = fill && width > later && used + spaces.length + leastPart <= room();
    if (used > 0 && !fits && !begins) endRow();
    // Only the first row keeps the spaces before its text.
    if (used === 0 && rows.length === 0) spaces = spaces.slice(0, Math.max(0, room() - leastRoom));
    row += spaces;
    used += spaces.length;
    spaces = "";
    if (used + width <= room()) {
      row += text;
      used += width;
      continue;
    }
    for (const part of partsOf(text)) {
      if (used + part.width > room() && used > 0) endRow();
      row += part.text;
      used += part.width;
    }
  }
  rows.push(row);
  return rows;
}

interface Word {
  readonly text: string;
  readonly width: number;
  readonly isSpace: boolean;
}

/** A word may contain marks of colours. */
function wordsOf(line: string): Word[] {
  const words: Word[] = [];
  let marked = false;
  let text = "";
  let width = 0;
  const endWord = (): void => {
    if (text !== "") words.push({ text, width, isSpace: false });
    [text, width, marked] = ["", 0, false];
  };
  piecesOf(line).forEach((piece, index) => {
    if (index % 2 === 1) {
      text += joinPieces(["", piece]);
      marked = true;
      return;
    }
    for (const part of piece.split(/( +)/)) {
      if (part === "") continue;
      if (part.startsWith(" ")) {
        endWord();
        words.push({ text: part, width: part.length, isSpace: true });
      } else {
        text += part;
        width += widthOf(part);
      }
    }
  });
  if (text !== "" || marked) endWord();
  return words;
}

/** The characters of a word, and the marks in it, which have no width. */
function partsOf(word: string): { readonly text: string; readonly width: number }[] {
  return piecesOf(word).flatMap((piece, index) =>
    index % 2 === 1
      ? [{ text: joinPieces(["", piece]), width: 0 }]
      : graphemes(piece).map((text) => ({ text, width: widthOf(text) })),
  );
}
