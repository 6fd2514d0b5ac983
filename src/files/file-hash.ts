// The SHA-256 of a file's content. A file whose inode has not changed since it was read is not read again.

import { createHash } from "node:crypto";
import { type BigIntStats, readFileSync } from "node:fs";

const mostRemembered = 100_000;
const remembered = new Map<string, { readonly stamp: string; readonly hash: string }>();

/** Where the content must be what the hash says, whoever uses the content hashes it once more. */
export function fileHash(path: string, { dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  const stamp = [dev, ino, size, mtimeNs, ctimeNs].join(" ");
  const known = remembered.get(path);
  if (known?.stamp === stamp) return known.hash;
  const hash = createHash("sha256").update(readFileSync(path)).digest("hex");
  if (remembered.size >= mostRemembered) remembered.clear();
  remembered.set(path, { stamp, hash });
  return hash;
}
