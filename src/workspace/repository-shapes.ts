// Finds the folders of a commit that git would take for repositories once they are checked out, whatever their names.

import type { OwnGit } from "./own-git.ts";

/** Paths from the top, with a slash at the end; the top itself is "". Case makes no difference, as on some file systems. */
export async function repositoryShapes(
  git: OwnGit,
  commit: string,
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<string>> {
  const paths = await git.list(["ls-tree", "-r", "-t", "-z", "--full-tree", "--name-only", commit], { signal });
  const known = new Set(paths.map((path) => path.toLowerCase()));
  const folders = new Set<string>();
  for (const path of paths) {
    if (!/(^|\/)head$/i.test(path)) continue;
    const folder = path.slice(0, -"head".length);
    const has = (name: string): boolean => known.has(`${folder}${name}`.toLowerCase());
    if ((has("objects") && has("refs")) || has("commondir")) folders.add(folder);
  }
  return folders;
}
