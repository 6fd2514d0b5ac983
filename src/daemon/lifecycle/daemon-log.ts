// The file that takes what a detached daemon writes: opened for its owner alone, and the last words of one that failed.

import { closeSync, fstatSync, openSync, readSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import { type ErrorCode, errorTable, TuttiError } from "../../protocol/error.ts";

const mostBytes = 10 * 2 ** 20;
const tailBytes = 16_384;

export const daemonLogFile = (folder: string): string => join(folder, "daemon.log");

export interface DaemonLog {
  readonly path: string;
  readonly descriptor: number;
  /** What was there before. */
  readonly from: number;
  close(): void;
}

/** One that has grown large is kept as `.1`, in place of the one before; the daemon goes on doing so while it runs. */
export function openDaemonLog(folder: string): DaemonLog {
  const path = daemonLogFile(folder);
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > mostBytes) renameSync(path, `${path}.1`);
  const descriptor = openSync(path, "a", 0o600);
  return { path, descriptor, from: fstatSync(descriptor).size, close: () => closeSync(descriptor) };
}

const Said = z.object({
  error: z.object({ code: z.string(), message: z.string(), retry: z.enum(["never", "safe", "unknown"]) }),
});

/** What Node prints below the error of a program that broke. */
const frame = /^(?:\s|\}|Node\.js v)/;

/** Why a daemon ended, by its last lines: the command's own error when there is one, the last line otherwise. */
export function lastWords({ path, from }: Pick<DaemonLog, "path" | "from">): TuttiError {
  const lines = lastLines(path, from);
  for (const line of lines.toReversed()) {
    const said = Said.safeParse(parsed(line)).data?.error;
    if (said === undefined) continue;
    return new TuttiError(isCode(said.code) ? said.code : "internal", said.message, { retry: said.retry });
  }
  const last = lines.findLast((line) => !frame.test(line)) ?? lines.at(-1);
  const what = last === undefined ? "it said nothing" : `its last words were: ${last.slice(0, 2_000)}`;
  return new TuttiError("internal", `the daemon ended before it was up; ${what} (more in ${path})`);
}

function lastLines(path: string, from: number): string[] {
  const descriptor = openSync(path, "r");
  try {
    const { size } = fstatSync(descriptor);
    // Smaller than it was: it was put aside meanwhile, and all that is in it is new.
    const start = Math.max(size < from ? 0 : from, size - tailBytes);
    const bytes = Buffer.alloc(Math.max(0, size - start));
    const read = readSync(descriptor, bytes, 0, bytes.length, start);
    return bytes
      .toString("utf8", 0, read)
      .split("\n")
      .filter((line) => line.trim() !== "");
  } finally {
    closeSync(descriptor);
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function isCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorTable, code);
}
