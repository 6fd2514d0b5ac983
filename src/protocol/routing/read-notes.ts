// The warnings of a reader, and the error that made its value unusable.

import { TuttiError } from "../error.ts";

export type Read<T> =
  | { readonly ok: true; readonly value: T; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly error: TuttiError; readonly warnings: readonly string[] };

export interface ReadNotes {
  readonly what: string;
  readonly warnings: string[];
  unlisted: number;
  error: TuttiError | undefined;
}

/** A text with a million unknown fields must not make a million warnings. */
const listedWarnings = 50;

export function newNotes(what: string): ReadNotes {
  return { what, warnings: [], unlisted: 0, error: undefined };
}

export function warn(notes: ReadNotes, warning: string): void {
  if (notes.warnings.length < listedWarnings) notes.warnings.push(warning);
  else notes.unlisted += 1;
}

/** Only the first problem is reported. Reading continues, but its value is not used. */
export function refuse(notes: ReadNotes, path: string, problem: string): undefined {
  const where = path === "" ? notes.what : `${notes.what}: ${path}`;
  notes.error ??= new TuttiError("invalid_input", `${where} ${problem}`, { details: { path } });
  return undefined;
}

export function finish<T>(notes: ReadNotes, value: T): Read<T> {
  const { error, unlisted } = notes;
  const warnings = unlisted === 0 ? notes.warnings : [...notes.warnings, `and ${unlisted} more warnings`];
  return error === undefined ? { ok: true, value, warnings } : { ok: false, error, warnings };
}

/** The beginning of a text, fit for a message of one line. */
export function excerpt(text: string, longest = 60): string {
  const line = text.slice(0, longest + 1).replaceAll(/\s+/g, " ");
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
}
