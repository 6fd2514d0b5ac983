// Keeps copies of the folders that a setup command made, by what they depend on, so that a new workspace gets a copy instead.

import { createHash, randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { cp, lstat, mkdir, readdir, readFile, readlink, rename, rm, utimes, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, relative } from "node:path";

import { z } from "zod";

import { linkOn } from "./copy-files.ts";
import { folderSize } from "./folder-size.ts";
import { sessionFolder, startFolder, type Workspace } from "./workspace-record.ts";

export interface SetupCache {
  /** Where it lies. No session may see this folder. */
  readonly folder: string;
  readonly maxBytes: number;
  /** What was not used for so long is removed. */
  readonly maxAgeMs: number;
}

/** A setup command whose result depends on nothing but itself and some files. */
export interface CachedSetup {
  readonly command: readonly string[];
  /** Files whose content decides about the result, relative to the folder that the command runs in. */
  readonly lock: readonly string[];
  /** What it makes there. */
  readonly makes: readonly string[];
}

const Entry = z.object({ bytes: z.number(), makes: z.array(z.string()) });
const entryFile = "entry.json";
const unfinished = ".new-";
const dayMs = 86_400_000;
const mostLockBytes = 256 * 1024 * 1024;

/** Undefined when a lock file is missing or is no ordinary file: then nothing is known to be the same. */
export async function setupKey(
  workspace: Workspace,
  { command, lock, makes }: CachedSetup,
): Promise<string | undefined> {
  const folder = startFolder(workspace);
  const hash = createHash("sha256");
  // Two repositories with equal lock files may still run different scripts, so each has entries of its own.
  const whose = [workspace.git_dir ?? workspace.project, relative(workspace.folder, folder)];
  hash.update(JSON.stringify([whose, command, makes, process.platform, process.arch, process.version]));
  for (const path of lock) {
    const file = join(folder, path);
    if ((await linkInside(workspace, file)) !== undefined) return undefined;
    const found = await lstat(file).catch(() => undefined);
    if (found?.isFile() !== true || found.size > mostLockBytes) return undefined;
    const content = await readFile(file);
    hash.update(JSON.stringify([path, content.length])).update(content);
  }
  return hash.digest("hex");
}

/** Copies the entry into the workspace, in which no process may be at work. False when there is none that can be used. */
export async function restoreSetup(cache: SetupCache, workspace: Workspace, key: string): Promise<boolean> {
  const entry = await readEntry(cache, key);
  if (entry === undefined) return false;
  const place = join(cache.folder, key);
  const draft = join(sessionFolder(workspace), `${unfinished}${randomUUID()}`);
  const targets = entry.makes.map((path) => join(startFolder(workspace), path));
  try {
    for (const target of targets) if ((await linkInside(workspace, dirname(target))) !== undefined) return false;
    await mkdir(draft, { recursive: true, mode: 0o700 });
    // Everything is copied before the first folder is put in its place: half of an installation is worse than none.
    for (const index of targets.keys()) await copyTree(join(place, String(index)), join(draft, String(index)));
    for (const [index, target] of targets.entries()) {
      await rm(target, { recursive: true, force: true });
      await mkdir(dirname(target), { recursive: true });
      await rename(join(draft, String(index)), target);
    }
    const now = new Date();
    await utimes(join(place, entryFile), now, now);
    return true;
  } catch {
    // The entry may have been removed meanwhile. The command itself makes what is missing.
    return false;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/**
 * Call it right after the command succeeded, before a session worked there, and only where the files that the command ran are
 * the person's own: whoever decides what is kept decides what later workspaces run. False when it cannot be kept.
 */
export async function keepSetup(
  cache: SetupCache,
  workspace: Workspace,
  { key, makes }: Pick<CachedSetup, "makes"> & { readonly key: string },
): Promise<boolean> {
  const place = join(cache.folder, key);
  const draft = join(cache.folder, `${unfinished}${randomUUID()}`);
  try {
    let bytes = 0;
    for (const path of makes) {
      const made = join(startFolder(workspace), path);
      if ((await linkInside(workspace, made)) !== undefined || !(await isPortable(made))) return false;
      bytes += await folderSize(made);
    }
    if (bytes > cache.maxBytes) return false;
    await mkdir(draft, { recursive: true, mode: 0o700 });
    for (const [index, path] of makes.entries()) {
      await copyTree(join(startFolder(workspace), path), join(draft, String(index)));
    }
    await writeFile(join(draft, entryFile), JSON.stringify({ bytes, makes }), { mode: 0o600 });
    await rename(draft, place);
  } catch {
    return false;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  await trimSetupCache(cache, Date.now());
  return true;
}

/** Removes what was not used for too long, and then the oldest until the rest is small enough. */
export async function trimSetupCache({ folder, maxBytes, maxAgeMs }: SetupCache, now: number): Promise<void> {
  const kept: { name: string; bytes: number; used: number }[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    const isDraft = name.startsWith(unfinished);
    const stats = await lstat(join(folder, name, isDraft ? "." : entryFile)).catch(() => undefined);
    const entry = isDraft ? undefined : await readEntry({ folder }, name);
    const age = now - (stats?.mtimeMs ?? 0);
    if (isDraft && age < dayMs) continue;
    if (entry === undefined || age > maxAgeMs) await removeEntry(folder, name);
    else kept.push({ name, bytes: entry.bytes, used: stats?.mtimeMs ?? 0 });
  }
  let total = kept.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { name, bytes } of kept.toSorted((one, other) => one.used - other.used)) {
    if (total <= maxBytes) return;
    await removeEntry(folder, name);
    total -= bytes;
  }
}

/** Renamed first, so that whoever is copying it fails instead of getting half of it. */
async function removeEntry(folder: string, name: string): Promise<void> {
  const gone = join(folder, `${unfinished}${randomUUID()}`);
  await rename(join(folder, name), gone);
  await rm(gone, { recursive: true, force: true });
}

async function readEntry(
  { folder }: Pick<SetupCache, "folder">,
  key: string,
): Promise<z.infer<typeof Entry> | undefined> {
  try {
    return Entry.parse(JSON.parse(await readFile(join(folder, key, entryFile), "utf8")));
  } catch {
    return undefined;
  }
}

/** A copy that shares blocks on disk where the file system can, but never a file. Links stay links. */
async function copyTree(from: string, to: string): Promise<void> {
  await cp(from, to, {
    recursive: true,
    verbatimSymlinks: true,
    preserveTimestamps: true,
    errorOnExist: true,
    force: false,
    mode: constants.COPYFILE_FICLONE,
  });
}

/** Whether it exists and none of its links leads to a place by its full path, which is another one in the next workspace. */
async function isPortable(made: string): Promise<boolean> {
  const found = await lstat(made).catch(() => undefined);
  if (found?.isDirectory() !== true) return found?.isFile() === true;
  for (const entry of await readdir(made, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink() && isAbsolute(await readlink(join(entry.parentPath, entry.name)))) return false;
    if (!entry.isSymbolicLink() && !entry.isFile() && !entry.isDirectory()) return false;
  }
  return true;
}

/** A link on the way to a path of the workspace, which could lead out of it. */
async function linkInside({ folder }: Workspace, path: string): Promise<string | undefined> {
  return linkOn(folder, relative(folder, path) || ".");
}
