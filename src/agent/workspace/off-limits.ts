// Folders that no tool may touch, such as the state folder: recognized by device and inode, so that no link and no other spelling helps.

import { lstatSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

import { TuttiError } from "../../protocol/error.ts";

/** What identifies a file or a folder, whatever its path. */
interface FileIdentity {
  readonly dev: bigint;
  readonly ino: bigint;
}

export interface OffLimits {
  holds(found: FileIdentity): boolean;
  /** Whether a file in these folders has a second name somewhere. */
  readonly hasHardLinks: boolean;
}

/** More entries than a state folder ever has; a limit so that nobody can make every tool call slow. */
const mostEntries = 10_000;

/** Files of a program that wait here for a person can be very many. They are made to have no second name anywhere. */
const unlisted = "held-files";

/** Reads which files and folders are there now; files come and go, so every call of a tool reads anew. */
export function readOffLimits(folders: readonly string[]): OffLimits {
  if (folders.length === 0) return nothing;
  const known = new Set<string>();
  let hasHardLinks = false;
  const waiting: string[] = [];
  for (const folder of folders) {
    const found = statSync(folder, { bigint: true, throwIfNoEntry: false });
    if (found === undefined) continue;
    known.add(keyOf(found));
    waiting.push(folder);
  }
  for (let folder = waiting.pop(); folder !== undefined && known.size < mostEntries; folder = waiting.pop()) {
    for (const name of namesIn(folder)) {
      const path = join(folder, name);
      const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
      // What a link in the folder leads to lies elsewhere and is not part of the folder.
      if (found === undefined || found.isSymbolicLink()) continue;
      known.add(keyOf(found));
      if (found.isDirectory()) {
        if (name !== unlisted) waiting.push(path);
      } else if (found.nlink > 1n) hasHardLinks = true;
    }
  }
  return { hasHardLinks, holds: (found) => known.has(keyOf(found)) };
}

const nothing: OffLimits = { hasHardLinks: false, holds: () => false };

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function keyOf({ dev, ino }: FileIdentity): string {
  return `${dev}:${ino}`;
}

/** `path` has no links in it. Throws when it, or a folder above it, is off limits. */
export function refuseInside(path: string, offLimits: OffLimits): void {
  for (let at = path; ; at = dirname(at)) {
    const found = statSync(at, { bigint: true, throwIfNoEntry: false });
    if (found !== undefined && offLimits.holds(found)) throw offLimitsError(path);
    if (dirname(at) === at) return;
  }
}

export function offLimitsError(path: string): TuttiError {
  return new TuttiError("refused", `${path} belongs to the state that Tutti keeps, which no tool may touch`);
}
