// Other object folders that a repository borrows objects from, as after `git clone --shared`.

import { readFileSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";

/** Absolute paths, also of those that an alternate borrows from itself. */
export function alternatesOf(objects: string, depth = 0): string[] {
  let text: string;
  try {
    text = readFileSync(join(objects, "info", "alternates"), "utf8");
  } catch {
    return [];
  }
  const paths = text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => (isAbsolute(line) ? line : resolve(objects, line)));
  const further = depth >= 5 ? [] : paths.flatMap((path) => alternatesOf(path, depth + 1));
  return [...new Set([...paths, ...further])];
}
