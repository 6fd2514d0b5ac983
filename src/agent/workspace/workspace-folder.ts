// A folder of the workspace held open, reached from its root name by name without following a link, so that it cannot be exchanged under a call.

import { constants, existsSync } from "node:fs";
import { type FileHandle, lstat, mkdir, open, realpath } from "node:fs/promises";
import { join } from "node:path";

import { TuttiError } from "../../protocol/error.ts";
import { errno, fileError, type ResolvedPath } from "./workspace.ts";

export interface Folder {
  /** A path to an entry that goes through the open folder itself, whatever has become of its name. */
  entry(name: string): string;
  /** The open folder as a path. */
  readonly at: string;
}

const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Where the system gives a path to an open descriptor, nobody can put another folder in its place. */
export const hasOpenPaths = process.platform === "linux" && existsSync("/proc/self/fd");

/** Opens the folder for as long as `use` runs. `make`: with the folders that are missing. */
export async function inFolder<T>(
  { root, names, path }: ResolvedPath,
  { make }: { readonly make: boolean },
  use: (folder: Folder) => Promise<T>,
): Promise<T> {
  let held: FileHandle | undefined;
  let real = root;
  try {
    if (make) await mkdir(root, { recursive: true });
    held = await open(root, flags);
    for (const name of names) {
      const above = held;
      real = join(real, name);
      held = await descend(folderAt(above, join(real, "..")).entry(name), { make, path });
      await above.close();
    }
    // Without such paths a look at the name afterwards is the best there is.
    if (!hasOpenPaths && (await realpath(real)) !== real)
      throw new TuttiError("refused", `${path} was moved meanwhile`);
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
