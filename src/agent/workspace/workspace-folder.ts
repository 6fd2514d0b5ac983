// Opens a folder of the workspace name by name from its root without following links, so that nobody can swap it during a call.

import { constants, existsSync } from "node:fs";
import { type FileHandle, lstat, mkdir, open, realpath } from "node:fs/promises";
import { join } from "node:path";

import { errno } from "../../core/errno.ts";
import { TuttiError } from "../../protocol/error.ts";
import { type OffLimits, offLimitsError, refuseInside } from "./off-limits.ts";
import { fileError, type ResolvedPath } from "./resolve-path.ts";

export interface Folder {
  /** A path to an entry through the open folder itself; it stays valid when the folder is renamed. */
  entry(name: string): string;
  /** The open folder as a path. */
  readonly at: string;
}

const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Whether the system gives paths to open descriptors; with those nobody can put another folder in the place of an open one. */
export const hasOpenPaths = process.platform === "linux" && existsSync("/proc/self/fd");

export interface FolderUse {
  /** Create the folders that are missing. */
  readonly make: boolean;
  readonly offLimits: OffLimits;
}

/** Opens the folder for as long as `use` runs. */
export async function inFolder<T>(
  { root, names, path }: ResolvedPath,
  { make, offLimits }: FolderUse,
  use: (folder: Folder) => Promise<T>,
): Promise<T> {
  let held: FileHandle | undefined;
  let real = root;
  try {
    refuseInside(root, offLimits);
    if (make) await mkdir(root, { recursive: true });
    held = await open(root, flags);
    if (offLimits.holds(await held.stat({ bigint: true }))) throw offLimitsError(path);
    for (const name of names) {
      const parent = held;
      real = join(real, name);
      held = await descend(folderAt(parent, join(real, "..")).entry(name), { make, path });
      await parent.close();
      if (offLimits.holds(await held.stat({ bigint: true }))) throw offLimitsError(path);
    }
    // Without such paths, checking the name afterwards is the best that can be done.
    if (!hasOpenPaths && (await realpath(real)) !== real)
      throw new TuttiError("refused", `${path} was moved during the call`);
    return await use(folderAt(held, real));
  } catch (thrown) {
    throw fileError(thrown, path);
  } finally {
    await held?.close();
  }
}

function folderAt(handle: FileHandle, real: string): Folder {
  const at = hasOpenPaths ? `/proc/self/fd/${handle.fd}` : real;
  return { at, entry: (name) => `${at}/${name}` };
}

async function descend(
  entry: string,
  { make, path }: { readonly make: boolean; readonly path: string },
): Promise<FileHandle> {
  try {
    return await open(entry, flags);
  } catch (thrown) {
    const code = errno(thrown);
    if (code === "ENOENT" && make) {
      await mkdir(entry).catch((failed: unknown) => {
        if (errno(failed) !== "EEXIST") throw failed;
      });
      return open(entry, flags);
    }
    const isLink = code === "ENOTDIR" && (await lstat(entry).catch(() => undefined))?.isSymbolicLink() === true;
    if (isLink) throw new TuttiError("refused", `${path} leads through a link that is not followed`);
    throw thrown;
  }
}
