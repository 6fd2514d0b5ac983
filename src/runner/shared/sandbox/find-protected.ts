// Finds the protected files below the folders that a confined program may write to, before it runs and again afterwards.

import { type BigIntStats, constants, type Dirent } from "node:fs";
import { lstat, readdir, readlink, realpath } from "node:fs/promises";
import { join } from "node:path";

import type { OffLimits } from "../../../agent/workspace/off-limits.ts";
import { isGitFolder } from "../../../agent/workspace/protected-files.ts";
import { errno } from "../../../core/errno.ts";
import { leadsToProtected, protectedDepth } from "../../../core/protected-path.ts";
import { TuttiError } from "../../../protocol/error.ts";
import { oddlyNamedFolders, protectedBelow, shownName } from "./odd-names.ts";

export interface ProtectedFiles {
  /** Real paths of protected files and folders, each with what identifies it. */
  readonly found: ReadonlyMap<string, string>;
  /** Of those, the folders that only their content makes a git repository. */
  readonly bare: ReadonlySet<string>;
  /** Of those, the links, each with what it leads to. */
  readonly links: ReadonlyMap<string, string>;
  /** Of those, the folders whose names are not UTF-8: the bytes of the name. The path then has a name for people. */
  readonly oddNames: ReadonlyMap<string, Buffer>;
  /** Folders that could not be listed, each with what identifies it. */
  readonly unreadable: ReadonlyMap<string, string>;
  /** What may only be read: the files and folders with ordinary names, and what the links lead to. */
  readonly readOnly: readonly string[];
  /** Other paths by which the state folder or one of its files can be reached. */
  readonly offLimits: readonly string[];
}

/** A workspace of this many folders takes a few seconds to look through. */
const mostFolders = 200_000;
/** After a program has run: more, so that the program cannot hide a file by making many folders. */
export const mostFoldersAfter = 1_000_000;
/** Packages are installed, not edited, and there can be very many of them. */
const skipped = "node_modules";
const atOnce = 16;
/** What stands in the text of a name for bytes that are not UTF-8. */
const unreadableByte = "\uFFFD";

export async function findProtected(
  roots: readonly string[],
  offLimits: OffLimits,
  most = mostFolders,
): Promise<ProtectedFiles> {
  const found = new Map<string, string>();
  const bare = new Set<string>();
  const links = new Map<string, string>();
  const oddNames = new Map<string, Buffer>();
  const unreadable = new Map<string, string>();
  const readOnly = new Set<string>();
  const closed: string[] = [];
  const waiting: { readonly folder: string; readonly names: readonly string[] }[] = roots.map((folder) => ({
    folder,
    names: [],
  }));
  const entered = new Set<string>();
  let seen = 0;
  /** Nobody enters `node_modules` to work there, unless a link leads to it. */
  const enterSkipped = async (link: string): Promise<void> => {
    const real = await realpath(link).catch(() => undefined);
    if (real === undefined || entered.has(real) || !real.split("/").includes(skipped)) return;
    entered.add(real);
    const root = roots.find((folder) => real.startsWith(`${folder}/`));
    const isFolder = (await lstat(real).catch(() => undefined))?.isDirectory() === true;
    if (root !== undefined && isFolder) waiting.push({ folder: real, names: real.slice(root.length + 1).split("/") });
  };
  const look = async ({ folder, names }: { readonly folder: string; readonly names: readonly string[] }) => {
    const stats = await lstat(folder, { bigint: true }).catch(() => undefined);
    if (stats === undefined) return;
    if (offLimits.holds(stats)) {
      closed.push(folder);
      return;
    }
    const isNamed = protectedDepth(names) !== undefined;
    if (isNamed || (await isGitFolder(folder))) {
      found.set(folder, identityOf(stats));
      if (!isNamed) bare.add(folder);
      readOnly.add(folder);
      return;
    }
    const entries = await entriesOf(folder);
    if (entries === undefined) unreadable.set(folder, identityOf(stats));
    const hasOddNames = entries?.some(({ name }) => name.includes(unreadableByte)) === true;
    for (const name of hasOddNames ? await oddlyNamedFolders(folder) : []) {
      const below = await protectedBelow(Buffer.concat([Buffer.from(`${folder}/`), name]), most);
      if (below === undefined) continue;
      const path = join(folder, shownName(name));
      found.set(path, below);
      oddNames.set(path, name);
    }
    for (const entry of entries ?? []) {
      const path = join(folder, entry.name);
      const below = [...names, entry.name];
      if (entry.isDirectory()) {
        if (entry.name !== skipped) waiting.push({ folder: path, names: below });
        continue;
      }
      if (entry.isSymbolicLink()) await enterSkipped(path);
      const counts = entry.isSymbolicLink() ? leadsToProtected(below) : protectedDepth(below) !== undefined;
      if (counts || offLimits.hasHardLinks) {
        const file = await lstat(path, { bigint: true }).catch(() => undefined);
        if (file !== undefined && offLimits.holds(file)) closed.push(path);
        else if (file !== undefined && counts) {
          found.set(path, identityOf(file));
          if (file.isSymbolicLink()) links.set(path, await readlink(path).catch(() => ""));
          const real = await realpath(path).catch(() => undefined);
          if (real !== undefined && (real === path || roots.some((root) => real.startsWith(`${root}/`))))
            readOnly.add(real);
        }
      }
    }
  };
  while (waiting.length > 0) {
    const next = waiting.splice(-atOnce);
    seen += next.length;
    if (seen > most) {
      throw new TuttiError("too_large", `the workspace has more than ${most} folders; give the task narrower roots`);
    }
    await Promise.all(next.map(look));
  }
  return { found, bare, links, oddNames, unreadable, readOnly: [...readOnly], offLimits: closed };
}

/** Undefined when the folder may not be listed. */
async function entriesOf(folder: string): Promise<Dirent[] | undefined> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (thrown) {
    return errno(thrown) === "EACCES" ? undefined : [];
  }
}

/** A file system gives the inode of a removed file to the next one, so the time of birth and the kind of file count too. */
function identityOf({ dev, ino, mode, birthtimeNs }: BigIntStats): string {
  return [dev, ino, mode & kindOfFile, birthtimeNs].join(":");
}

const kindOfFile = BigInt(constants.S_IFMT);
