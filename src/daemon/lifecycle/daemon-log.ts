// The file that a detached daemon's output goes to, and the error that can be read from it when the daemon did not start.

import { closeSync, fstatSync, openSync, readSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import { parseJson } from "../../protocol/json/parse-json.ts";
import { type ErrorCode, errorTable, TuttiError } from "../../protocol/error.ts";

const maxBytes = 10 * 2 ** 20;
const tailBytes = 16_384;

export const daemonLogFile = (folder: string): string => join(folder, "daemon.log");

export interface DaemonLog {
  readonly path: string;
  readonly descriptor: number;
  /** The size of the file when it was opened: what earlier daemons wrote ends here. */
  readonly from: number;
  close(): void;
}

/** A large file is first renamed to `.1`, replacing the one before. While the daemon runs, it does the same itself. */
export function openDaemonLog(folder: string): DaemonLog {
  const path = daemonLogFile(folder);
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > maxBytes) renameSync(path, `${path}.1`);
  const descriptor = openSync(path, "a", 0o600);
  return { path, descriptor, from: fstatSync(descriptor).size, close: () => closeSync(descriptor) };
}

/** What `tutti up --json` prints when it fails. */
const ErrorLine = z.object({
  error: z.object({ code: z.string(), message: z.string(), retry: z.enum(["never", "safe", "unknown"]) }),
});

/** Lines that Node prints below the error message of a program that crashed. */
const belowError = /^(?:\s|\}|Node\.js v)/;

/** Why a daemon ended, from the end of its log: the error it reported, or else the last line that says something. */
export function startupError({ path, from }: Pick<DaemonLog, "path" | "from">): TuttiError {
  const lines = lastLines(path, from);
  for (const line of lines.toReversed()) {
    const reported = ErrorLine.safeParse(parseJson(line)).data?.error;
    if (reported === undefined) continue;
    const { code, message, retry } = reported;
    return new TuttiError(isCode(code) ? code : "internal", message, { retry });
  }
  const last = lines.findLast((line) => !belowError.test(line)) ?? lines.at(-1);
  const what = last === undefined ? "it printed nothing" : `its last output was: ${last.slice(0, 2_000)}`;
  return new TuttiError("internal", `the daemon ended before it was up; ${what} (more in ${path})`);
}

function lastLines(path: string, from: number): string[] {
  const descriptor = openSync(path, "r");
  try {
    const { size } = fstatSync(descriptor);
    // A file that is smaller than before was emptied meanwhile, and everything in it is new.
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

function isCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorTable, code);
}
