// Turns what SQLite and the file system throw into errors that say what to do.
import { TuttiError } from "../../protocol/error.ts";

/** Primary result codes of SQLite that have an advice of their own. */
const advice: Readonly<
  Record<number, { code: "disk_full" | "corrupt" | "read_only" | "busy"; say: (path: string) => string }>
> = {
  5: { code: "busy", say: (path) => `${path} is in use by another program; close it and try again` },
  8: {
    code: "read_only",
    say: (path) => `${path} cannot be written; make it writable or choose another folder with --state`,
  },
  10: {
    code: "disk_full",
    say: (path) =>
      `the disk failed or is full while writing ${path}; free space and start again, nothing that was acknowledged is lost`,
  },
  11: { code: "corrupt", say: (path) => `${path} is damaged; restore it from a copy, or move it away to start anew` },
  13: {
    code: "disk_full",
    say: (path) =>
      `the disk is full: ${path} could not grow; free space and start again, nothing that was acknowledged is lost`,
  },
  14: {
    code: "read_only",
    say: (path) =>
      `${path} cannot be opened; check that the folder exists and is yours, or choose another with --state`,
  },
  26: {
    code: "corrupt",
    say: (path) => `${path} is not a Tutti database; move it away, or choose another folder with --state`,
  },
};

export function storageError(path: string, thrown: unknown): TuttiError {
  if (thrown instanceof TuttiError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const known = advice[primaryCode(thrown)];
  if (known !== undefined) return new TuttiError(known.code, `${known.say(path)} (${message})`, { cause: thrown });
  return new TuttiError("io", `could not write ${path}: ${message}`, { cause: thrown });
}

/** SQLite could not enlarge the file of shared memory beside the database. */
const sharedMemorySize = 4874;

/** The statement failed only because there is no room, so it can be tried again on the same connection. */
export function isDiskFull(thrown: unknown): boolean {
  return primaryCode(thrown) === 13 || extendedCode(thrown) === sharedMemorySize;
}

/** For a write that is kept and tried again. */
export function stalledError(path: string, thrown: unknown): TuttiError {
  const message = `the disk is full: ${path} cannot grow; free some space, and the work goes on by itself. Nothing that was acknowledged is lost`;
  return new TuttiError("disk_full", message, { cause: thrown });
}

function primaryCode(thrown: unknown): number {
  const code = extendedCode(thrown);
  return code === -1 ? -1 : code & 0xff;
}

function extendedCode(thrown: unknown): number {
  if (!(thrown instanceof Error) || !("errcode" in thrown) || typeof thrown.errcode !== "number") return -1;
  return thrown.errcode;
}
