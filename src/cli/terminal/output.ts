// How the command line reports: warnings and errors on standard error, in one line each or as JSON.
import { errorTable, type TuttiError } from "../../protocol/error.ts";
import { note, standardError } from "./screen.ts";
import { paint } from "./style.ts";

export function warn(message: string): void {
  note(`${paint("yellow", "warning:")} ${message}`);
}

export function fail(error: TuttiError, json: boolean): void {
  const { code, message, retry } = error;
  if (json) standardError.write(`${JSON.stringify({ error: { code, message, retry } })}\n`);
  else note(`${paint("red", "tutti:")} ${message.replaceAll("\n", " ")}`);
  if (code === "internal" && error.cause instanceof Error) note(error.cause.stack ?? error.cause.message);
  process.exitCode = errorTable[code].exit;
}

/** Indents every line by two spaces. */
export function indent(text: string): string {
  return text.replaceAll(/^/gm, "  ");
}
