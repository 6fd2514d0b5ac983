// The names of protected files: they make other programs run code, or say what Tutti may do. Looks at names alone.

import { trimEndOf } from "../protocol/trim-end.ts";

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
  ".factory",
  ".gemini",
  ".kiro",
  ".opencode",
  ".qwen",
  ".roo",
  ".windsurf",
  // Editors.
  ".fleet",
  ".helix",
  ".idea",
  ".vim",
  ".zed",
];
/** Read when a folder is entered or opened: by shells, agents and editors. */
export const protectedFiles = [
  ".mcp.json",
  "opencode.json",
  "opencode.jsonc",
  ".envrc",
  ".exrc",
  "_exrc",
  ".vimrc",
  "_vimrc",
  ".nvimrc",
  ".nvim.lua",
];
export const editorFolder = ".vscode";
export const editorFiles = ["tasks.json", "settings.json", "mcp.json"];
/** The file of a workspace of VS Code has the same settings and tasks as `.vscode`. */
export const workspaceEnding = ".code-workspace";
const configName = /^tutti\.config\.[^/]*$/;
const known = new Set([...protectedFolders, ...protectedFiles]);

/**
 * The name as the most forgiving file system reads it: case, forms of the same letter, invisible characters, trailing dots
 * and spaces, streams and short names of Windows make no difference.
 */
export function foldName(name: string): string {
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
    if (known.has(name) || configName.test(name) || name.endsWith(workspaceEnding)) return true;
    return editorFiles.includes(name) && folded[at - 1] === editorFolder;
  });
  return index === -1 ? undefined : index + 1;
}

/** Whether what a link of this name leads to is protected, whatever its own name is. Only for links does `.vscode` count. */
export function leadsToProtected(path: readonly string[]): boolean {
  return protectedDepth(path) !== undefined || foldName(path.at(-1) ?? "") === editorFolder;
}

/** Of a path with slashes, relative to the top of a folder. */
export function isProtectedPath(path: string, isLink = false): boolean {
  const names = path.split("/");
  return isLink ? leadsToProtected(names) : protectedDepth(names) !== undefined;
}
