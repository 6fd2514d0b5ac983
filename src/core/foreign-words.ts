// Words of others in a text of ours: quoted, so that none of them can pass for a line or a sentence that Tutti wrote.

import { argvLine, argvNotes } from "../protocol/argv-line.ts";
import { escapeInvisible } from "./escape-invisible.ts";

/** A block. Every line begins with a mark, so that no line of others can pass for one of ours. */
export function quoted(text: string): string {
  return escapeInvisible(text)
    .split("\n")
    .map((line) => `  | ${line}`)
    .join("\n");
}

/** Inside of a line of ours: a name, a path, a reason. Nothing of it begins a line. */
export function inLine(text: string): string {
  return escapeInvisible(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}

/** After a name of ours: in the same line when it is one line, and otherwise as a block. */
export function saidBy(name: string, text: string): string {
  const trimmed = text.trim();
  return trimmed.includes("\n") ? `${name}:\n${quoted(trimmed)}` : `${name}: ${inLine(trimmed)}`;
}

/** A command as a person is asked about it: never shortened, and with what to notice in it. */
export function quotedCommand(argv: readonly string[]): string {
  return [quoted(argvLine(argv)), ...argvNotes(argv)].join("\n");
}

/** Who asks is not Tutti, and all of the text is theirs, so it must not look like a question of ours about something that will run. */
export function agreementAskedBy(name: string, text: string): string {
  return `${inLine(name)} asks you to agree to the following. It is told your answer; nothing runs by it alone.\n${quoted(text)}`;
}
