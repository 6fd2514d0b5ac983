// Reads a file that may be missing.

import { readFileSync } from "node:fs";

/** Returns undefined if the file does not exist or cannot be read. For files that only give hints. */
export function readOptionalFile(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
