// Files of a workspace that make other programs run code, or that say what Tutti may do. Changing one needs an approval that names it.

import { lstat } from "node:fs/promises";
import { join } from "node:path";

import { TuttiError } from "../../protocol/error.ts";
import type { ResolvedPath } from "./resolve-path.ts";
import { trimEndOf } from "../../protocol/trim-end.ts";

/** Everything in such a folder is protected, and so is a file of that name: `.git` may be one. */
export const protectedFolders = [
  ".git",
  ".githooks",
  ".husky",
  ".tutti",
  // Other agents: servers that they start and hooks that they run.
  ".claude",
  ".codex",
  ".cursor",
  ".gemini",
  // Editors.
  ".fleet",
  ".idea",
  ".zed",
];
/** Read when a folder is entered or opened: by shells, agents and editors. */
export const protectedFiles = [".mcp.json", ".envrc", ".exrc", ".nvimrc", ".nvim.lua"];
export const editorFolder = ".vscode";
export const editorFiles = ["tasks.json", "settings.json", "mcp.json"];
/** The file of a workspace of VS Code has the same settings and tasks as `.vscode`. */
export const workspaceEnding = ".code-workspace";
const configName = /^tutti\.config\.[^/]*$/;
const names = new Set([...protectedFolders, ...protectedFiles]);

/**
 * The name as the most forgiving file system reads it: case, forms of the same letter, invisible characters, trailing dots
 * and spaces, streams and short names of Windows make no difference.
 */
function foldName(name: string): string {
  const whole = name
    .normalize("NFKC")
    .replaceAll(/\p{Cf}/gu, "")
    .toLowerCase()
    .replace(/(?<=.):.*$/s, "");
  const plain = trimEndOf(whole, ". ") || whole;
  return /^git~\d+$/.test(plain) ? ".git" : plain;
}

/** How many of the names lead to the protected file or folder; undefined when none is protected. Looks at the names alone. */
export function protectedDepth(path: readonly string[]): number | undefined {
  const folded = path.map(foldName);
  const index = folded.findIndex((name, at) => {
    if (names.has(name) || configName.test(name) || name.endsWith(workspaceEnding)) return true;
    return editorFiles.includes(name) && folded[at - 1] === editorFolder;
  });
  return index === -1 ? undefined : index + 1;
}

/** Of a path with slashes, relative to the top of a folder. */
export function isProtectedPath(path: string): boolean {
  return protectedDepth(path.split("/")) !== undefined;
}

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
