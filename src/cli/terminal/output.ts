// Writes to the terminal: results on standard output, warnings and errors on standard error, with colours where they are wanted.
import { once } from "node:events";

import { errorTable, type TuttiError } from "../../protocol/error.ts";

/** Waits while the reader of standard output is slower than this command. */
export async function writeLine(text: string): Promise<void> {
  if (!process.stdout.write(`${text}\n`)) await once(process.stdout, "drain");
}

/** A reader that goes away, as `head` does, is no error: the command ends with status 0. */
export function exitWhenOutputCloses(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    console.error(`tutti: could not write the result: ${error.message}`);
    process.exit(errorTable.io.exit);
  });
}

export function warn(message: string): void {
  console.error(`${style("33", "warning:", process.stderr.isTTY)} ${message}`);
}

export function fail(error: TuttiError, json: boolean): void {
  const { code, message, retry } = error;
  if (json) console.error(JSON.stringify({ error: { code, message, retry } }));
  else console.error(`${style("31", "tutti:", process.stderr.isTTY)} ${message.replaceAll("\n", " ")}`);
  if (code === "internal" && error.cause instanceof Error) console.error(error.cause.stack);
  process.exitCode = errorTable[code].exit;
}

const colors = { red: "31", green: "32", yellow: "33", blue: "34", dim: "2", bold: "1" } as const;

export const bold = (text: string): string => paint("bold", text);
export const dim = (text: string): string => paint("dim", text);

/** Colours text when standard output is a terminal and `NO_COLOR` is not set. */
export function paint(color: keyof typeof colors, text: string): string {
  return style(colors[color], text, process.stdout.isTTY);
}

function style(codes: string, text: string, terminal: boolean | undefined): string {
  if (terminal !== true || (process.env["NO_COLOR"] ?? "") !== "") return text;
  return `\u001b[${codes}m${text}\u001b[0m`;
}

/** Indents every line by two spaces. */
export function indent(text: string): string {
  return text.replaceAll(/^/gm, "  ");
}
