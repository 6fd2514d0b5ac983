// The process that is working on a state folder now.

import { TuttiError } from "../../protocol/error.ts";
import { takeLock } from "../../store/sqlite/lock.ts";
import { type LockOwner, readLockOwner } from "./lock-owner.ts";

/**
 * Returns undefined if nobody works on the folder. The lock is tried only if the process in its note exists, so that a
 * folder nobody works on is not touched.
 */
export function activeOwner(folder: string): LockOwner | undefined {
  const owner = readLockOwner(folder);
  if (owner === undefined || !exists(owner.pid)) return undefined;
  try {
    takeLock(folder).release();
    return undefined;
  } catch (thrown) {
    if (thrown instanceof TuttiError && thrown.code === "locked") return owner;
    throw thrown;
  }
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (thrown) {
    // It exists, but belongs to another user.
    return thrown instanceof Error && "code" in thrown && thrown.code === "EPERM";
  }
}
