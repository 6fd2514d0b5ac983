// What a check sees of the machine: the system's own folders and the toolchains. Everything else at the top appears empty.

import { readdir, readlink, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, join, sep } from "node:path";

import { homeFolders } from "./confine-session.ts";
import { realFolders } from "./folder-access.ts";

/** Programs and their libraries, the system's settings, and what the kernel shows. `/tmp` and `/dev` are the check's own. */
const systemFolders = new Set(
  ["bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "etc", "dev", "proc", "sys", "tmp"].map(
    (name) => sep + name,
  ),
);
/** Stores of programs, which everybody can read. */
const storeFolders = ["/nix/store", "/gnu/store", "/snap", "/opt/homebrew"];
/** On macOS the profile hides folders one by one. */
const unseenOnMacs = ["/Volumes", "/private/var/tmp", "/opt", "/srv"];

export interface SeenMachine {
  /** Real paths that appear empty. */
  readonly unseen: readonly string[];
  /** Folders in them, outside of every home, without which the programs of the PATH do not work. */
  readonly toolchains: readonly string[];
}

export async function seenMachine(path = process.env["PATH"] ?? ""): Promise<SeenMachine> {
  const unseen = process.platform === "darwin" ? unseenOnMacs : await unknownFolders();
  const isIn = (file: string, folder: string): boolean => file === folder || file.startsWith(folder + sep);
  // Of a home folder only what is known to be a toolchain is seen; beside it there may be keys.
  const homes = await realFolders([...homeFolders, homedir()]);
  const isUnseen = (file: string): boolean =>
    unseen.some((folder) => isIn(file, folder)) && !homes.some((folder) => isIn(file, folder));
  const toolchains = new Set(storeFolders);
  for (const folder of new Set(path.split(delimiter).filter((each) => each.startsWith(sep)))) {
    const real = await realpath(folder).catch(() => undefined);
    if (real === undefined) continue;
    if (isUnseen(real)) toolchains.add(installedIn(real));
    // Programs are often links into the folder of their toolchain.
    for (const file of await linksOf(real)) if (isUnseen(file)) toolchains.add(installedIn(dirname(file)));
  }
  return { unseen, toolchains: [...toolchains].filter((folder) => folder !== sep && !unseen.includes(folder)) };
}

async function unknownFolders(): Promise<string[]> {
  const entries = await readdir(sep, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory() && !systemFolders.has(sep + entry.name))
    .map(({ name }) => sep + name);
}

async function linksOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const found: string[] = [];
  for (const entry of entries) {
    if (!entry.isSymbolicLink()) continue;
    const file = join(folder, entry.name);
    const target = await readlink(file).catch(() => "");
    // A link beside it leads nowhere else.
    if (!target.includes(sep)) continue;
    const real = await realpath(file).catch(() => undefined);
    if (real !== undefined) found.push(real);
  }
  return found;
}

/** The whole package of a folder with programs: what is beside its `bin`, or its `node_modules`. */
function installedIn(folder: string): string {
  const inner = `${sep}node_modules${sep}`;
  const at = `${folder}${sep}`.indexOf(inner);
  if (at !== -1) return folder.slice(0, at + inner.length - 1);
  const parent = dirname(folder);
  // A folder at the top, such as /opt, is no package.
  return /[/\\]s?bin$/.test(folder) && dirname(parent) !== parent && dirname(dirname(parent)) !== dirname(parent)
    ? parent
    : folder;
}
