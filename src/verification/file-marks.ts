// Tells which files of a checkout a program wrote to, replaced or removed, also when it put their contents back.

import { createHash } from "node:crypto";
import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

interface FileMark {
  readonly inode: bigint;
  /** Set by the system alone, whatever a program says of the other times. */
  readonly changed: bigint;
  readonly mode: bigint;
  readonly hash: string | undefined;
}

/** So many files are looked at, and so large ones are read. */
const mostFiles = 20_000;
const mostBytes = 1024n * 1024n;
const leftOut = new Set([".git", "node_modules", ".venv", "target"]);

export async function filesIn(folder: string): Promise<ReadonlyMap<string, FileMark>> {
  const marks = new Map<string, FileMark>();
  const open = [""];
  for (const at of open) {
    for (const entry of await readdir(join(folder, at), { withFileTypes: true })) {
      const path = at === "" ? entry.name : `${at}/${entry.name}`;
      if (marks.size >= mostFiles) return marks;
      if (entry.isDirectory()) {
        if (!leftOut.has(entry.name)) open.push(path);
        continue;
      }
      const mark = await markOf(join(folder, path));
      if (mark !== undefined) marks.set(path, mark);
    }
  }
  return marks;
}

/** Paths relative to the folder. */
export async function rewrittenFiles(folder: string, before: ReadonlyMap<string, FileMark>): Promise<string[]> {
  const found: string[] = [];
  for (const [path, mark] of before) {
    const now = await markOf(join(folder, path), mark);
    if (now === undefined || isRewritten(mark, now)) found.push(path);
  }
  return found;
}

function isRewritten(before: FileMark, now: FileMark): boolean {
  if (before.inode !== now.inode) return true;
  if (before.changed === now.changed) return false;
  // A script that is made executable stays what it is.
  return before.mode === now.mode || before.hash !== now.hash;
}

/** Undefined for what is not there. A file that was not touched since `known` is not read again. */
async function markOf(file: string, known?: FileMark): Promise<FileMark | undefined> {
  const found = await lstat(file, { bigint: true }).catch(() => undefined);
  if (found === undefined) return undefined;
  const { ino: inode, ctimeNs: changed, mode, size } = found;
  if (known !== undefined && known.inode === inode && known.changed === changed) return known;
  const isRead = found.isFile() && size <= mostBytes;
  const hash = isRead ? await readFile(file).then(hashOf, () => undefined) : undefined;
  return { inode, changed, mode, hash };
}

function hashOf(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
