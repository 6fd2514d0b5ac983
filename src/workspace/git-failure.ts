// Turns a failure of git into an error that says what is wrong and what to do about it.

import { existsSync, statfsSync } from "node:fs";

import { errno } from "../core/errno.ts";
import { argvLine } from "../protocol/argv-line.ts";
import { type ErrorCode, TuttiError } from "../protocol/error.ts";

const known: readonly (readonly [RegExp, ErrorCode, string])[] = [
  [/no space left on device|disk quota exceeded/i, "disk_full", "the disk is full; make room and try again"],
  [/read-only file system/i, "read_only", "the folder is on a file system that can only be read"],
  [
    /detected dubious ownership/i,
    "refused",
    "the repository belongs to another user; if you trust it, add it to git's `safe.directory`",
  ],
  [/not a git repository/i, "not_found", "the folder is not in a git repository; use the mode `copy`"],
  [
    /unable to create '.*\.lock': file exists|cannot lock ref/is,
    "busy",
    "another git command is working on the repository; try again when it has ended",
  ],
  [
    /out of memory|malloc failed|cannot allocate memory/i,
    "too_large",
    "git would need too much memory for this; look whether a commit has an absurd number of files",
  ],
  [
    /transport '.*' not allowed|promisor remote/i,
    "refused",
    "objects are missing in this repository, and Tutti's own git fetches nothing; run `git fetch` first",
  ],
];

export interface FailedGit {
  readonly args: readonly string[];
  readonly code: number | null;
  readonly stderr: string;
  /** Where git wrote files. */
  readonly cwd: string;
}

/** Git speaks English here, because Tutti sets the language. */
export function gitFailure({ args, code, stderr, cwd }: FailedGit): TuttiError {
  const told = lastLines(stderr);
  const details = { command: argvLine(["git", ...args]).slice(0, 500), exit_code: code, stderr: told };
  // Git does not always say why it could not write a file.
  if (/unable to (?:write|create)/i.test(stderr) && isFull(cwd)) {
    return new TuttiError("disk_full", `the disk is full; make room and try again (git: ${told})`, { details });
  }
  for (const [pattern, error, message] of known) {
    if (pattern.test(stderr)) return new TuttiError(error, `${message} (git: ${told})`, { details });
  }
  return new TuttiError("io", `git ${args[0] ?? ""} failed: ${told || `exit status ${code}`}`, { details });
}

export function gitNotStarted(cause: unknown, cwd: string): TuttiError {
  if (!existsSync(cwd)) return new TuttiError("not_found", `the folder ${cwd} does not exist any more`, { cause });
  if (errno(cause) === "ENOENT") {
    return new TuttiError("not_found", "git cannot be started: install git 2.38 or newer, and see that it is on PATH", {
      cause,
    });
  }
  return new TuttiError("io", `git cannot be started: ${errno(cause) ?? String(cause)}`, { cause, retry: "safe" });
}

function isFull(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize < 1024 * 1024;
  } catch {
    return false;
  }
}

function lastLines(stderr: string): string {
  const lines = stderr
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("hint:"));
  return lines.slice(-3).join("; ").slice(0, 600);
}
