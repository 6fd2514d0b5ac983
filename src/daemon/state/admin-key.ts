// The file that holds the admin key: its owner's alone, whole or not there.

import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from "node:fs";

import { replacePrivateFile } from "../../files/private-file.ts";
import { TuttiError } from "../../protocol/error.ts";

/** Exactly what a key looks like. */
function isKey(text: string): boolean {
  return /^tk_[\w-]{43}$/.test(text);
}

/**
 * Undefined when there is no file. Refused when anybody else can read or write it, or has put it there: the key in it may
 * be known to others then, or be theirs.
 */
export function readAdminKey(file: string): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (thrown) {
    const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
    if (code === "ENOENT") return undefined;
    const why = code === "ELOOP" ? "it is a link" : thrown instanceof Error ? thrown.message : String(thrown);
    throw new TuttiError("refused", `${file} cannot be used: ${why}; move it away and start again`, { cause: thrown });
  }
  try {
    const problem = problemWith(fstatSync(descriptor));
    if (problem !== undefined) throw new TuttiError("refused", `${file} ${problem}`);
    const key = readFileSync(descriptor, "utf8").replace(/\n$/, "");
    if (isKey(key)) return key;
    throw new TuttiError("refused", `${file} does not hold a key; remove it, and the next start makes a new one`);
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
  return "can be read or written by others; remove it, so that the next start makes a new key, or `chmod 600` it if nobody has";
}

/** Replaces whatever the file holds. Returns the key. */
export function newAdminKey(file: string, key: string): string {
  try {
    replacePrivateFile(file, `${key}\n`);
    return key;
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    throw new TuttiError("io", `the admin key could not be written: ${why}`, { cause: thrown });
  }
}
