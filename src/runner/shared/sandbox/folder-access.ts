// Which folders a confined program may write to, and which it cannot see.

import { lstat, realpath } from "node:fs/promises";

import { readOffLimits, refuseInside } from "../../../agent/workspace/off-limits.ts";
import { TuttiError } from "../../../protocol/error.ts";
import { findProtected, type ProtectedFiles } from "./find-protected.ts";
import { foldersOfServices } from "./outside-services.ts";

/** The folders that a confined program may write to and those that it cannot see. */
export interface FolderAccess {
  readonly writable: readonly string[];
  readonly hidden: readonly string[];
  /** Files that look empty. */
  readonly blank: readonly string[];
  /** The protected files as they are before the program runs. */
  readonly before: ProtectedFiles;
}

export async function folderAccess(roots: readonly string[], hidden: readonly string[]): Promise<FolderAccess> {
  const writable = await realFolders(roots);
  if (writable.includes("/")) {
    throw new TuttiError(
      "refused",
      "a task whose root is the whole machine cannot be confined; give it a narrower root",
    );
  }
  const offLimits = readOffLimits(hidden);
  for (const root of writable) refuseInside(root, offLimits);
  const invisible = await realFolders([...foldersOfServices(), ...hidden]);
  const before = await findProtected(writable, offLimits);
  const isFolder = await Promise.all(before.offLimits.map(async (path) => (await lstat(path)).isDirectory()));
  return {
    writable,
    hidden: [
      ...invisible.filter((path) => !writable.includes(path)),
      ...before.offLimits.filter((path, index) => isFolder[index] === true && !invisible.includes(path)),
    ],
    blank: before.offLimits.filter((_, index) => isFolder[index] === false),
    before,
  };
}

/** The innermost folder that contains the path decides. */
export function isVisible(path: string, { writable, hidden }: Pick<FolderAccess, "writable" | "hidden">): boolean {
  const nearest = (folders: readonly string[]): number =>
    Math.max(
      0,
      ...folders.filter((folder) => path === folder || path.startsWith(`${folder}/`)).map((folder) => folder.length),
    );
  return nearest(writable) >= nearest(["/tmp", ...hidden]);
}

/** The real paths of the folders that exist, each once. */
export async function realFolders(paths: readonly string[]): Promise<string[]> {
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => undefined)));
  return [...new Set(real.flatMap((path) => path ?? []))];
}
