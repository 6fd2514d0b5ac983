// The file that holds the admin key: its owner's alone, whole or not there.

import { readPrivateFile, replacePrivateFile } from "../../files/private-file.ts";
import { TuttiError } from "../../protocol/error.ts";

/** Exactly what a key looks like. */
function isKey(text: string): boolean {
  return /^tk_[\w-]{43}$/.test(text);
}

/** Undefined when there is no file. Refused when others can read or write it, or have put it there. */
export function readAdminKey(file: string): string | undefined {
  const key = readPrivateFile(file)?.replace(/\n$/, "");
  if (key === undefined || isKey(key)) return key;
  throw new TuttiError("refused", `${file} does not hold a key; remove it, and the next start makes a new one`);
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
