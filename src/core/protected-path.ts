// Decides by their names which files are protected, and tells why. Looks at names alone.

import { trimEndOf } from "../protocol/trim-end.ts";
import { protectedNames } from "./protected-names.ts";

interface NamePattern {
  /** The name of the folder that it must be in; any folder when absent. */
  readonly folder: string | undefined;
  readonly start: string;
  /** What the name ends with, where there is a `*`. */
  readonly end: string | undefined;
  readonly why: string;
}

/** One for each name of the table. */
export const namePatterns: readonly NamePattern[] = protectedNames.flatMap(({ names, why }) =>
  names.map((each) => {
    const slash = each.indexOf("/");
    const [start = "", end] = each.slice(slash + 1).split("*");
    return { folder: slash === -1 ? undefined : each.slice(0, slash), start, end, why };
  }),
);
/** Most names are found by one look into this. */
const plainNames = new Map(
  namePatterns.flatMap(({ folder, start, end, why }) =>
    folder === undefined && end === undefined ? [[start, why] as const] : [],
  ),
);
const otherPatterns = namePatterns.filter(({ folder, end }) => folder !== undefined || end !== undefined);
const outerFolders = new Set(otherPatterns.flatMap(({ folder }) => folder ?? []));
/** What a folder is told that is protected by its content, or that a link leads to. */
const anyReason = "it can make other programs run code or change what Tutti may do";

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

/** Why a file or folder of this name is protected; undefined when it is not. Both names are folded. */
function reasonOf(name: string, folder: string | undefined): string | undefined {
  const plain = plainNames.get(name);
  if (plain !== undefined) return plain;
  return otherPatterns.find((pattern) => {
    if (pattern.folder !== undefined && pattern.folder !== folder) return false;
    const { start, end } = pattern;
    if (end === undefined) return name === start;
    return name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end);
  })?.why;
}

/** How many of the names lead to the protected file or folder; undefined when none is protected. Looks at the names alone. */
export function protectedDepth(path: readonly string[]): number | undefined {
  const folded = path.map(foldName);
  const index = folded.findIndex((name, at) => reasonOf(name, folded[at - 1]) !== undefined);
  return index === -1 ? undefined : index + 1;
}

/** Why the file is protected, in words for the person who is asked. The innermost name of the path that is protected counts. */
export function protectedReason(path: string): string {
  const folded = path.split("/").map(foldName);
  const reasons = folded.flatMap((name, at) => reasonOf(name, folded[at - 1]) ?? []);
  return reasons.at(-1) ?? anyReason;
}

/**
 * Whether what a link of this name leads to is protected, whatever its own name is. Only for links do folders count that
 * merely hold protected files, such as `.vscode`.
 */
export function leadsToProtected(path: readonly string[]): boolean {
  return protectedDepth(path) !== undefined || outerFolders.has(foldName(path.at(-1) ?? ""));
}

/** Of a path with slashes, relative to the top of a folder. */
export function isProtectedPath(path: string, isLink = false): boolean {
  const names = path.split("/");
  return isLink ? leadsToProtected(names) : protectedDepth(names) !== undefined;
}
