// Which files of a workspace are protected, as the disk shows them. Changing one needs an approval that names it.

import { lstat, readdir, readlink, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";

import { foldName, leadsToProtected, protectedDepth } from "../../core/protected-path.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { ResolvedPath } from "./resolve-path.ts";

/** A folder that git takes for a repository, whatever its name, once it also has an entry `added`. */
export async function isGitFolder(folder: string, added?: string): Promise<boolean> {
  const extra = added === undefined ? undefined : foldName(added);
  const has = async (name: string): Promise<boolean> =>
    extra === name.toLowerCase() || (await lstat(join(folder, name)).catch(() => undefined)) !== undefined;
  if (!(await has("HEAD"))) return false;
  return ((await has("objects")) && (await has("refs"))) || has("commondir");
}

/** The protected file or folder that contains the path, or would contain it once it was made; undefined when there is none. */
export async function protectedPart({ root, names: path }: ResolvedPath): Promise<string | undefined> {
  const depth = protectedDepth(path);
  if (depth !== undefined) return join(root, ...path.slice(0, depth));
  for (const [index, name] of path.entries()) {
    const folder = join(root, ...path.slice(0, index));
    if (await isGitFolder(folder, name)) return folder;
    const target = await linkedPart(folder, path.slice(0, index), join(root, ...path));
    if (target !== undefined) return target;
  }
  return undefined;
}

/** What a link with a protected name in the folder leads to, if that is the path or contains it. */
async function linkedPart(folder: string, names: readonly string[], path: string): Promise<string | undefined> {
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    if (!entry.isSymbolicLink() || !leadsToProtected([...names, entry.name])) continue;
    const link = join(folder, entry.name);
    // What it leads to may not exist yet.
    const target = await realpath(link).catch(async () => resolve(folder, await readlink(link)));
    if (path === target || path.startsWith(`${target}/`)) return target;
  }
  return undefined;
}

/** `approved`: the exact paths a person has agreed to. */
export async function refuseProtected(resolved: ResolvedPath, approved: readonly string[]): Promise<void> {
  if (approved.includes(resolved.path)) return;
  const part = await protectedPart(resolved);
  if (part === undefined) return;
  const why = part === resolved.path ? "is a protected file" : `belongs to ${part}, which is protected`;
  throw new TuttiError(
    "refused",
    `${resolved.path} ${why}: a person must approve the change of exactly this file, and nobody has; nothing was changed`,
  );
}
