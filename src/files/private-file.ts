// Files that only their owner can read: written to a draft, synced, and moved into place whole or not at all.

import { randomUUID } from "node:crypto";
import { closeSync, constants, fchmodSync, fstatSync, fsyncSync, linkSync, openSync, readFileSync } from "node:fs";
import { renameSync, rmSync, type Stats, writeFileSync } from "node:fs";
import { dirname } from "node:path";

import { TuttiError } from "../protocol/error.ts";

/**
 * Undefined when there is no file. Throws `refused` when it is a link, belongs to another user, or others can read or write
 * it: what it says may be known to others then, or be theirs. Checked on the same open file that is read.
 */
export function readPrivateFile(path: string): string | undefined {
  let descriptor: number;
  try {
    // Non-blocking, because opening a named pipe would otherwise wait for a writer.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (thrown) {
    const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    const why = code === "ELOOP" ? "it is a link" : thrown instanceof Error ? thrown.message : String(thrown);
    throw new TuttiError("refused", `${path} cannot be used: ${why}; move it away and start again`, { cause: thrown });
  }
  try {
    const problem = problemWith(fstatSync(descriptor));
    if (problem !== undefined) throw new TuttiError("refused", `${path} ${problem}`);
    return readFileSync(descriptor, "utf8");
  } finally {
    closeSync(descriptor);
  }
}

function problemWith(found: Stats): string | undefined {
  if (!found.isFile()) return "is not a file; move it away and start again";
  const me = process.getuid?.();
  if (me !== undefined && found.uid !== me) return "belongs to another user; move it away and start again";
  // Windows has no such bits: what it reports says nothing about who may read.
  if (process.platform === "win32" || (found.mode & 0o077) === 0) return undefined;
  return "can be read or written by others; remove it, so that the next start makes a new one, or `chmod 600` it if nobody has";
}

/** Replaces the file if it exists. A reader sees the old content or the new one, never a part of either. */
export function replacePrivateFile(path: string, content: string): void {
  withDraft(path, content, (draft) => renameSync(draft, path));
}

/** Returns false and changes nothing if the file exists already, also when another process has just created it. */
export function createPrivateFile(path: string, content: string): boolean {
  try {
    withDraft(path, content, (draft) => linkSync(draft, path));
    return true;
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST") return false;
    throw thrown;
  }
}

function withDraft(path: string, content: string, moveIntoPlace: (draft: string) => void): void {
  const draft = `${path}.${randomUUID()}`;
  try {
    const descriptor = openSync(draft, "wx", 0o600);
    try {
      // The umask may have removed even the owner's bits.
      fchmodSync(descriptor, 0o600);
      writeFileSync(descriptor, content);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    moveIntoPlace(draft);
    syncFolder(dirname(path));
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Makes the new name survive a power loss. Windows cannot open a folder for this. */
function syncFolder(folder: string): void {
  if (process.platform === "win32") return;
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
