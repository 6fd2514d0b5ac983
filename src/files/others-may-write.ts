// Whether users other than the owner can write to a file or a folder, by its mode and its group.

import type { Stats } from "node:fs";

const groupMayWrite = 0o020;
const anybodyMayWrite = 0o002;

/**
 * Many systems give each user a group of their own, with the user's number, and make new files writable by it. Such a group
 * is the user alone, so it does not count as others.
 */
export function othersMayWrite({ mode, uid, gid }: Pick<Stats, "mode" | "uid" | "gid">): boolean {
  if ((mode & anybodyMayWrite) !== 0) return true;
  return (mode & groupMayWrite) !== 0 && gid !== uid;
}
