// The colours of the lines of a diff.
import { bold, paint } from "./style.ts";

/** Colours a line. `as` is the line that decides when this one is only a part of it. */
export function paintedLine(line: string, as = line): string {
  if (as.startsWith("+")) return paint("green", line);
  if (as.startsWith("-")) return paint("red", line);
  return as.startsWith("@@") ? paint("blue", line) : line;
}

/** The lines of a patch as git writes it. Before its hunks, each file has lines such as `--- a/x`, which are no change. */
export function paintedPatch(patch: string): string[] {
  let inHunk = false;
  return patch.split("\n").map((line) => {
    // A line of a file has a sign before it, so it cannot look like the head of the next file.
    if (line.startsWith("diff --git ")) inHunk = false;
    if (line.startsWith("@@")) inHunk = true;
    return inHunk || line === "" ? paintedLine(line) : bold(line);
  });
}
