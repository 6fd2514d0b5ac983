// Paths within a tree: joined, taken apart, and found from words that name them, also with stars.

import type { BaseTree } from "./base-tree.ts";

/** Relative to the top; undefined when it leads out of it. The top is the empty string. */
export function joined(folder: string, path: string): string | undefined {
  const parts: string[] = [];
  for (const part of `${path.startsWith("/") ? "" : folder}/${path}`.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  return parts.join("/");
}

export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The name without everything after its first dot, except one at its beginning. */
export function stemOf(path: string): string {
  const name = nameOf(path);
  const dot = name.indexOf(".", 1);
  return dot === -1 ? name : name.slice(0, dot);
}

export function extensionOf(path: string): string {
  const name = nameOf(path);
  const dot = name.lastIndexOf(".");
  return dot <= 0 ? "" : name.slice(dot + 1).toLowerCase();
}

export function withoutExtension(path: string): string {
  const extension = extensionOf(path);
  return extension === "" ? path : path.slice(0, -extension.length - 1);
}

/** The folder, the one that holds it, and so on, to the top. */
export function foldersUp(folder: string): string[] {
  const found = [folder];
  for (let at = folder; at !== "";) {
    at = folderOf(at);
    found.push(at);
  }
  return found;
}

export function isBelow(path: string, folder: string): boolean {
  return folder === "" || path === folder || path.startsWith(`${folder}/`);
}

export interface Named {
  readonly files: readonly string[];
  /** Folders that are named as a whole. */
  readonly folders: readonly string[];
}

const mostWordLength = 400;

/** What a word names, relative to any of the folders. What follows a variable or a star is not known, so its folder is meant. */
export function namedBy(tree: BaseTree, word: string, folders: readonly string[]): Named {
  const files = new Set<string>();
  const whole = new Set<string>();
  const plain = /[*?[\]{}$%<>|]/.exec(word);
  const isPlain = plain === null;
  const fixed = isPlain ? word : word.slice(0, plain.index);
  // Of a word that begins with a variable, such as `$dir/golden/a`, the rest is tried.
  const rest = isPlain ? "" : (/^(?:\$\{?\w+\}?|\$\(\w+\))\/(.+)$/.exec(word)?.[1] ?? "");
  if (word === "" || word.length > mostWordLength || word.includes("://")) return { files: [], folders: [] };
  for (const folder of folders) {
    if (rest !== "") add(namedBy(tree, rest, [folder]));
    if (isPlain) {
      const path = joined(folder, word);
      if (path === undefined) continue;
      if (tree.has(path)) files.add(path);
      else if (path !== "" && tree.isFolder(path)) whole.add(path);
      continue;
    }
    const before = fixed.includes("/") ? joined(folder, fixed.slice(0, fixed.lastIndexOf("/"))) : undefined;
    if (before !== undefined && before !== "" && tree.isFolder(before)) whole.add(before);
    if (word[plain.index] === "*" || word[plain.index] === "{" || word[plain.index] === "?")
      for (const path of globbed(tree, folder, word)) files.add(path);
  }
  function add(more: Named): void {
    for (const path of more.files) files.add(path);
    for (const path of more.folders) whole.add(path);
  }
  return { files: [...files], folders: [...whole] };
}

/** Files below the folder that match a pattern as shells and test runners know it. */
function globbed(tree: BaseTree, folder: string, pattern: string): string[] {
  const matches = globMatcher(folder, pattern);
  const fixed = joined(folder, folderOf(pattern.slice(0, pattern.search(/[*?{]|$/)))) ?? "";
  return matches === undefined || !tree.isFolder(fixed) ? [] : tree.below(fixed).filter(matches);
}

export function globMatcher(folder: string, pattern: string): ((path: string) => boolean) | undefined {
  const full = joined(folder, pattern);
  if (full === undefined || full.length > mostWordLength) return undefined;
  // Patterns of the same length as a path cannot take long, because stars that follow each other are one.
  const source = full
    .replaceAll(/\*\*\/(?:\*\*\/)+/g, "**/")
    .replaceAll(/\*\*\/|\*+|\?|\{[^{}]*\}|[.+^$()|[\]\\{}]/g, (found) => {
      if (found === "**/") return "(?:[^/]+/)*";
      if (found.startsWith("*")) return found === "**" ? ".*" : "[^/]*";
      if (found === "?") return "[^/]";
      if (found.startsWith("{") && found.length > 1)
        return `(?:${found
          .slice(1, -1)
          .split(",")
          .map((each) =>
            each
              .replaceAll("*", "\0")
              .replaceAll(/[.+^$()|[\]\\{}?]/g, String.raw`\$&`)
              .replaceAll("\0", "[^/]*"),
          )
          .join("|")})`;
      return `\\${found}`;
    });
  if ((source.match(/\*/g) ?? []).length > 12) return undefined;
  const expression = new RegExp(`^${source}$`);
  return (path) => expression.test(path);
}
