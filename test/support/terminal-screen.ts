// What a terminal shows of the bytes that were written to it: its rows from the first on, as a person could scroll back to.

import { widthOf } from "../../src/cli/terminal/fit.ts";

export interface TerminalScreen {
  write(text: string): void;
  /** Every row, without the spaces at its end. */
  rows(): readonly string[];
  /** Rows that did not fit, so that the terminal broke them itself, in the middle of a word and without an indent. */
  readonly broken: readonly string[];
  /** Codes that no command of ours has to write, such as one that clears the screen or sets the title. */
  readonly strange: readonly string[];
}

/** Colours, moves within the line and up, erasing, and the mode in which pasted text is marked. */
const known =
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  /^\u001b\[(?:(?<count>\d*)(?<move>[ABCDGJKm])|\?2004[hl])/;
const segmenter = new Intl.Segmenter();

export function terminalScreen(columns: number): TerminalScreen {
  const rows: string[][] = [[]];
  const broken: string[] = [];
  const strange: string[] = [];
  let row = 0;
  let column = 0;
  /** A code of which only the beginning has come. */
  let pending = "";

  const current = (): string[] => (rows[row] ??= []);
  const put = (character: string): void => {
    const width = widthOf(character);
    if (column + width > columns) {
      broken.push(current().join(""));
      row += 1;
      column = 0;
    }
    const cells = current();
    while (cells.length < column) cells.push(" ");
    cells.splice(column, width, character, ...Array<string>(width - 1).fill(""));
    column += width;
  };
  const move = (kind: string, given: string): void => {
    const count = given === "" ? 1 : Number(given);
    if (kind === "A") row = Math.max(0, row - count);
    if (kind === "B") row += count;
    if (kind === "C") column = Math.min(columns - 1, column + count);
    if (kind === "D") column = Math.max(0, column - count);
    if (kind === "G") column = count - 1;
    if (kind === "J" || kind === "K") current().length = Math.min(current().length, column);
    if (kind === "J") rows.length = Math.min(rows.length, row + 1);
    // Clearing everything that was on the screen is not for us to do.
    if (kind === "J" && count > 1) strange.push(`${given}J`);
  };
  const obey = (text: string): string => {
    const found = known.exec(text);
    if (found === null) {
      strange.push(text.slice(0, 12));
      return text.slice(1);
    }
    const { move: kind = "m", count = "" } = found.groups ?? {};
    move(kind, kind === "J" && count === "" ? "0" : count);
    return text.slice(found[0].length);
  };
  return {
    broken,
    strange,
    rows: () => rows.map((cells) => cells.join("").trimEnd()),
    write(text) {
      let rest = `${pending}${text}`;
      pending = "";
      while (rest !== "") {
        // oxlint-disable-next-line no-control-regex -- control characters are what this is about
        if (/^\u001b(?:\[[?\d;]*)?$/.test(rest)) {
          pending = rest;
          return;
        }
        const first = rest.charAt(0);
        if (first === "\u001b") {
          rest = obey(rest);
          continue;
        }
        const character = first < " " ? first : (segmenter.segment(rest).containing(0)?.segment ?? first);
        rest = rest.slice(character.length);
        if (character === "\r" || character === "\r\n") column = 0;
        if (character === "\n" || character === "\r\n") row += 1;
        else if (character === "\b") column = Math.max(0, column - 1);
        else if (character !== "\r" && /^[\p{Cc}\p{Bidi_Control}]/u.test(character)) strange.push(character);
        else if (character !== "\r") put(character);
      }
    },
  };
}
