// Reads one line from the person at the terminal, after a prompt that is made safe like everything that is written.
import { closeSync, fstatSync, openSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { ReadStream } from "node:tty";

import { note, standardError } from "./screen.ts";
import { rendered } from "./style.ts";

/** The prompt is written to standard error, since standard output is for results. */
export function canPrompt(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** When standard input is a file or a pipe, which is not for the answer, the person types at the terminal itself. */
export function canAsk(): boolean {
  if (canPrompt()) return true;
  if (process.stderr.isTTY !== true) return false;
  const terminal = readsFile() ? openTerminal() : undefined;
  if (terminal !== undefined) closeSync(terminal);
  return terminal !== undefined;
}

/** Not so with /dev/null, by which whoever starts a program says that there is no input. */
function readsFile(): boolean {
  try {
    const stats = fstatSync(0);
    return stats.isFile() || stats.isFIFO();
  } catch {
    return false;
  }
}

/** Undefined when this process has no terminal. */
function openTerminal(): number | undefined {
  try {
    return openSync("/dev/tty", "r");
  } catch {
    return undefined;
  }
}

/** Where the person types, and how to let go of it. */
function keyboard(): { readonly input: NodeJS.ReadStream; readonly close: () => void } {
  const terminal = process.stdin.isTTY === true ? undefined : openTerminal();
  if (terminal === undefined) return { input: process.stdin, close: () => undefined };
  const input = new ReadStream(terminal);
  return { input, close: () => input.destroy() };
}

export interface PromptOptions {
  /** Takes the prompt back; its reason is thrown. */
  readonly signal?: AbortSignal;
  /** Called for Ctrl-C. The terminal is in raw mode while somebody types, so Ctrl-C raises no signal by itself. */
  readonly onInterrupt?: () => void;
}

/** Undefined when the person types Ctrl-D, or Ctrl-C and there is no `onInterrupt`. */
export async function prompt(text: string, { signal, onInterrupt }: PromptOptions = {}): Promise<string | undefined> {
  // Node draws a prompt again when the person edits the line, so it gets only the last line of ours.
  const lines = text.split("\n");
  const last = lines.pop() ?? "";
  if (lines.length > 0) note(lines.join("\n"));
  const { input, close } = keyboard();
  const reader = createInterface({ input, output: process.stderr });
  const closed = new AbortController();
  reader.once("close", () => closed.abort());
  if (onInterrupt !== undefined) reader.once("SIGINT", onInterrupt);
  try {
    return await reader.question(rendered(last, { colors: true }), {
      signal: signal === undefined ? closed.signal : AbortSignal.any([signal, closed.signal]),
    });
  } catch (thrown) {
    signal?.throwIfAborted();
    if (closed.signal.aborted) return undefined;
    throw thrown;
  } finally {
    reader.close();
    close();
  }
}

/** What is typed is not shown. Undefined when the person types Ctrl-C or Ctrl-D. */
export async function promptSecret(text: string): Promise<string | undefined> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output: nowhere, terminal: true, historySize: 0 });
  // Only now: from here on the terminal shows nothing of what is typed.
  standardError.write(text);
  const closed = new AbortController();
  reader.once("close", () => closed.abort());
  try {
    return await reader.question("", { signal: closed.signal });
  } catch (thrown) {
    if (closed.signal.aborted) return undefined;
    throw thrown;
  } finally {
    reader.close();
    // The line break that the person typed was not shown either.
    note("");
  }
}
