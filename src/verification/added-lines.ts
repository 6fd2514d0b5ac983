// Reads the lines that work added, as git tells them.

import type { AddedLine } from "../core/suspect-lines.ts";
import type { TreeFiles } from "./base-files.ts";

export interface AddedLines {
  /** In the order of the paths. */
  readonly lines: readonly AddedLine[];
  /** Whether the change is larger than what was read of it. */
  readonly isCut: boolean;
}

const mostBytes = 32 * 1024 * 1024;

export async function addedLines({ git, objects, base, attempt, signal }: TreeFiles): Promise<AddedLines> {
  const options = { objects, signal, maxBytes: mostBytes, overflow: "cut" as const };
  // Attributes, which the work can change, must not make a file look binary.
  const shape = [
    "--text",
    "--no-renames",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--src-prefix=a/",
    "--dst-prefix=b/",
  ];
  const told = await git.run(
    ["-c", "core.quotePath=false", "diff-tree", "-r", "-p", "-U0", ...shape, base, attempt],
    options,
  );
  const added: AddedLine[] = [];
  let path: string | undefined;
  let line = 0;
  let left = 0;
  for (const text of told.stdout.toString("utf8").split("\n")) {
    if (left > 0 && text.startsWith("+")) {
      if (path !== undefined) added.push({ path, line, text: text.slice(1) });
      line += 1;
      left -= 1;
      continue;
    }
    if (text.startsWith("diff --git ")) path = undefined;
    if (text.startsWith("+++ ")) path = pathOf(text.slice(4));
    const hunk = /^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@/.exec(text);
    if (hunk !== null) [line, left] = [Number(hunk[1]), Number(hunk[2] ?? 1)];
  }
  return { lines: added, isCut: told.isCut };
}

/** Git quotes a path with control characters or quotes, and ends one with spaces in it by a tab. */
function pathOf(told: string): string | undefined {
  if (told.startsWith('"')) return told.slice(3, -1);
  return told.startsWith("b/") ? told.slice(2).replace(/\t$/, "") : undefined;
}
