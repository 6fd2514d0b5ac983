// Colours of our own, in a form that only this process can write, so that text from outside cannot contain one.
import { isatty } from "node:tty";

import { escapeControls } from "../../core/escape-controls.ts";

const colors = { red: "31", green: "32", yellow: "33", blue: "34", dim: "2", bold: "1" } as const;

export const bold = (text: string): string => paint("bold", text);
export const dim = (text: string): string => paint("dim", text);

/** Colours text unless `NO_COLOR` is set or there is no terminal. The screen that writes it turns the marks into codes. */
export function paint(color: keyof typeof colors, text: string): string {
  if ((process.env["NO_COLOR"] ?? "") !== "" || !(isatty(1) || isatty(2))) return text;
  return painted(color, text);
}

/** @internal Exported for tests, which have no terminal. */
export function painted(color: keyof typeof colors, text: string): string {
  const { begin } = marks();
  return `${begin}${colors[color]}m${text}${begin}0m`;
}

interface Marks {
  readonly begin: string;
  /** Matches a mark and captures its code. */
  readonly pattern: RegExp;
}

let made: Marks | undefined;

/** Made when the first text is coloured: most commands with piped output never need them. */
function marks(): Marks {
  if (made !== undefined) return made;
  const begin = `\u001b${crypto.randomUUID()};`;
  made = { begin, pattern: new RegExp(`${begin}(\\d+)m`) };
  return made;
}

/** The text between marks, at even places, and the codes of the marks, at odd places. */
export function piecesOf(text: string): string[] {
  return made === undefined ? [text] : text.split(made.pattern);
}

/** Puts together again what `piecesOf` took apart. */
export function joinPieces(pieces: readonly string[]): string {
  return pieces.map((piece, index) => (index % 2 === 0 ? piece : `${marks().begin}${piece}m`)).join("");
}

/** What may be written to a terminal, or to anything that somebody might look at with one. */
export function rendered(text: string, { colors: wanted }: { readonly colors: boolean }): string {
  return piecesOf(text)
    .map((piece, index) => (index % 2 === 0 ? escapeControls(piece) : wanted ? `\u001b[${piece}m` : ""))
    .join("");
}
