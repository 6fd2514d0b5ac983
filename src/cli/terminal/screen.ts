// Standard output and standard error: the only place where the command line writes, so that text from outside is always made safe.
import { once } from "node:events";

import { errorTable } from "../../protocol/error.ts";
import { rendered } from "./style.ts";
import { asTyped } from "./typed-command.ts";
import { wrapped } from "./wrap.ts";

type Stream = Pick<NodeJS.WriteStream, "write" | "isTTY" | "columns" | "rows">;

export interface Screen {
  readonly isTerminal: boolean;
  /** A terminal that does not know its size counts as 80 by 24. */
  readonly columns: number;
  readonly rows: number;
  /** Colours of ours become codes on a terminal; whatever else a terminal would obey is escaped. */
  write(text: string): boolean;
  /** Erases the last `count` lines, to draw them again. */
  eraseLines(count: number): void;
}

/**
 * `stream` is called when it is needed, because opening a standard stream takes time.
 * @internal Exported for its tests only.
 */
export function screenOver(stream: () => Stream): Screen {
  return {
    get isTerminal() {
      return stream().isTTY === true;
    },
    get columns() {
      const { columns } = stream();
      return columns > 0 ? columns : 80;
    },
    get rows() {
      const { rows } = stream();
      return rows > 0 ? rows : 24;
    },
    write: (text) => stream().write(rendered(text, { colors: stream().isTTY === true })),
    eraseLines(count) {
      if (count > 0) stream().write(`\r\u001b[${count}A\u001b[0J`);
    },
  };
}

/** Infinity for a file or another program, where no line is broken. */
export function widthOfScreen({ isTerminal, columns }: Screen): number {
  return isTerminal ? columns : Infinity;
}

export const standardOutput = screenOver(() => process.stdout);
export const standardError = screenOver(() => process.stderr);

interface LineOptions {
  /** Columns before the rows in which a line goes on, besides the spaces that the line itself begins with. */
  readonly hang?: number;
}

/** For people: on a terminal, what does not fit goes on in the next row, indented. Waits while the reader is slower. */
export async function writeLine(text: string, options?: LineOptions): Promise<void> {
  const said = asTyped(text);
  await writeUnbroken(standardOutput.isTerminal ? fitted(said, standardOutput.columns, options) : said);
}

/** For programs: a value as one line of JSON. */
export async function writeJson(value: unknown): Promise<void> {
  await writeUnbroken(JSON.stringify(value));
}

/** For text that people copy, such as a key, or that was wrapped already: no line is broken. */
export async function writeUnbroken(text: string): Promise<void> {
  if (!standardOutput.write(`${text}\n`)) await drained();
}

/** Writes the exact text when standard output is a file or another program. A terminal still gets it made safe. */
export async function writeExactLine(text: string): Promise<void> {
  if (standardOutput.isTerminal) return writeUnbroken(text);
  if (!process.stdout.write(`${text}\n`)) await drained();
}

async function drained(): Promise<void> {
  await once(process.stdout, "drain");
}

/** Text that has its line breaks, such as help. */
export function writeBlock(screen: Screen, text: string): void {
  const said = asTyped(text);
  screen.write(screen.isTerminal ? fitted(said, screen.columns) : said);
}

/** Writes a line to standard error; on a terminal, what does not fit goes on in the next row, indented. */
export function note(text: string): void {
  const said = asTyped(text);
  standardError.write(`${standardError.isTerminal ? fitted(said, standardError.columns) : said}\n`);
}

/** A character that no text has, in place of a space at which a line must not break. */
const keptSpace = "\ue000";

/** People copy commands, so what stands between backticks is not divided if it fits into a row. */
function fitted(text: string, width: number, { hang = 2 }: LineOptions = {}): string {
  // On a narrow terminal, at least half of a row is for text.
  const later = Math.min(hang, Math.floor(width / 2));
  const lines = text.split("\n").map((line) => {
    const room = width - later - (/^ */.exec(line)?.[0].length ?? 0);
    const kept = line.replaceAll(/`[^`]+`/g, (command) =>
      command.length > room ? command : command.replaceAll(" ", keptSpace),
    );
    return wrapped(kept, { width, hang: later });
  });
  return lines.join("\n").replaceAll(keptSpace, " ");
}

/** A reader that goes away, as `head` does, is no error: the command ends with status 0. */
export function exitWhenOutputCloses(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    note(`tutti: could not write the result: ${error.message}`);
    process.exit(errorTable.io.exit);
  });
}

/** Node writes warnings to standard error by itself. They may quote text from outside, so they are written here instead. */
export function writeNodeWarnings(): void {
  // There is no listener when Node was told to write no warnings.
  if (process.listenerCount("warning") === 0) return;
  process.removeAllListeners("warning");
  process.on("warning", ({ name, message }) => note(`(node:${process.pid}) ${name}: ${message}`));
}
