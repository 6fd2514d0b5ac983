// Files that only their owner can read: written to a draft, synced, and moved into place whole or not at all.

import { randomUUID } from "node:crypto";
import { closeSync, fchmodSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

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
