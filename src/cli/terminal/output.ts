// Writes what a command has to say: results on standard output, warnings and errors on standard error.
import { once } from "node:events";

import { errorTable, type TuttiError } from "../../protocol/error.ts";

/** Waits when the reader is slower than we are; a reader that has gone away ends the command quietly. */
export async function writeLine(text: string): Promise<void> {
  if (!process.stdout.write(`${text}\n`)) await once(process.stdout, "drain");
}

export function quietWhenReaderLeaves(): void {
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

/** Colours standard output, when it is a terminal that wants them. */
export function paint(color: keyof typeof colors, text: string): string {
  return style(colors[color], text, process.stdout.isTTY);
}

function style(codes: string, text: string, terminal: boolean | undefined): string {
  if (terminal !== true || (process.env["NO_COLOR"] ?? "") !== "") return text;
  return `\u001b[${codes}m${text}\u001b[0m`;
}

/** Every line two spaces in. */
export function indent(text: string): string {
  return text.replaceAll(/^/gm, "  ");
}
