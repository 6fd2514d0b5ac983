// Whether a process works on a state folder, and which: the note beside the lock, believed only if the lock is held.

import { TuttiError } from "../../protocol/error.ts";
import { takeLock } from "../../store/sqlite/lock.ts";
import { lockOwner } from "./lock-owner.ts";

/** The lock is tried only when the noted process lives, so that a state nobody works on is not touched. */
export function whoWorks(folder: string): { readonly pid: number; readonly since: string } | undefined {
  const owner = lockOwner(folder);
  if (owner === undefined || !isThere(owner.pid)) return undefined;
  try {
    takeLock(folder).release();
    return undefined;
  } catch (thrown) {
    if (thrown instanceof TuttiError && thrown.code === "locked") return owner;
    throw thrown;
  }
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (thrown) {
    return thrown instanceof Error && "code" in thrown && thrown.code === "EPERM";
  }
}
