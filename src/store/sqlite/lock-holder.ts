// The second proof of who holds a state folder. Unlike a POSIX lock, it is not lost when some other descriptor of the lock file is closed.

import { closeSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface LockHolder {
  release(): void;
}

/** Undefined when another process that still lives holds the folder. Call it only while the lock database is locked. */
export function holdFolder(folder: string): LockHolder | undefined {
  if (process.platform === "linux") return holdByProcess(folder);
  if (process.platform === "darwin") return holdByFlock(folder);
  // A lock of Windows belongs to the handle that took it, so the lock database is enough there.
  return { release: () => undefined };
}

/**
 * The note names the process by its id and start time, so neither a crash nor a reused id leaves the folder locked. It
 * lies in a folder that only its owner can write, so no other user can take it.
 */
function holdByProcess(folder: string): LockHolder | undefined {
  const note = join(folder, "holder.json");
  const held = readHolder(note);
  if (held !== undefined && held.pid !== process.pid && startOf(held.pid) === held.start) return undefined;
  const text = JSON.stringify({ pid: process.pid, start: startOf(process.pid) });
  // Renamed into place, so that a crash leaves either the old note or the new one.
  writeFileSync(`${note}.new`, text, { mode: 0o600 });
  renameSync(`${note}.new`, note);
  return { release: () => rmSync(note, { force: true }) };
}

function readHolder(note: string): { readonly pid: number; readonly start: string } | undefined {
  try {
    const found: unknown = JSON.parse(readFileSync(note, "utf8"));
    if (typeof found !== "object" || found === null || !("pid" in found) || !("start" in found)) return undefined;
    const { pid, start } = found;
    return typeof pid === "number" && typeof start === "string" ? { pid, start } : undefined;
  } catch {
    return undefined;
  }
}

/** The boot and the ticks since then; undefined when there is no such process or it has ended. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return undefined;
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim()}/${fields[19]}`;
  } catch {
    return undefined;
  }
}

/** From the BSD headers: open with an exclusive lock that belongs to this descriptor alone. Node has no name for it. */
const exclusiveLock = 0x20;
const [readWrite, create, nonBlocking] = [0x2, 0x200, 0x4];

function holdByFlock(folder: string): LockHolder | undefined {
  try {
    const held = openSync(join(folder, "holder.lock"), readWrite | create | nonBlocking | exclusiveLock, 0o600);
    return { release: () => closeSync(held) };
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "EAGAIN") return undefined;
    throw thrown;
  }
}
