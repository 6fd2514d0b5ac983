// Moves protected files out of a workspace and back into it, through folders that were opened without following links.

import { chmod, cp, lstat, mkdir, rename, rm, symlink } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";

import type { OffLimits } from "../../../agent/workspace/off-limits.ts";
import { type Folder, inFolder } from "../../../agent/workspace/workspace-folder.ts";
import { errno } from "../../../core/errno.ts";
import { thrownMessage, TuttiError } from "../../../protocol/error.ts";

/** The folders of a workspace, and the folders in them that nothing may touch. */
export interface Reach {
  readonly roots: readonly string[];
  readonly offLimits: OffLimits;
}

/**
 * Throws `io` with a sentence for the person when the file cannot be moved. Does nothing when it is gone. `oddName`: the
 * bytes of its name, if they are not UTF-8.
 */
export async function moveAside(
  path: string,
  to: string,
  { oddName, ...reach }: Reach & { readonly oddName?: Buffer | undefined },
): Promise<boolean> {
  try {
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    return await inParent(path, { ...reach, make: false }, async (folder) => {
      const entry = folder.entry(basename(path));
      const from = oddName === undefined ? entry : Buffer.concat([Buffer.from(`${dirname(entry)}/`), oddName]);
      const stats = await lstat(from);
      // To move a folder, its owner needs the right to change it and the folder that it is in.
      if (stats.isDirectory() && (stats.mode & 0o700) !== 0o700) await chmod(from, stats.mode | 0o700);
      try {
        await rename(from, to);
      } catch (thrown) {
        if (errno(thrown) === "EACCES") {
          await chmod(folder.at, (await lstat(`${folder.at}/.`)).mode | 0o700);
          await rename(from, to);
        } else if (errno(thrown) === "EXDEV" && typeof from === "string") await copyAcross(from, to);
        else throw thrown;
      }
      return true;
    });
  } catch (thrown) {
    if (isGone(thrown)) return false;
    throw new TuttiError(
      "io",
      `the protected file ${path} appeared while a program ran and cannot be moved aside: ${thrownMessage(thrown)}; it is still there, so look at it and remove it yourself`,
      { cause: thrown, details: { path } },
    );
  }
}

/** Puts a file where nothing is. The reason why not, for people, when that is impossible. */
export async function moveBack(
  from: string,
  path: string,
  { make, ...reach }: Reach & { readonly make: boolean },
): Promise<string | undefined> {
  try {
    return await inParent(path, { ...reach, make }, async (folder) => {
      const to = folder.entry(basename(path));
      if ((await lstat(to).catch(() => undefined)) !== undefined) return "something else is in its place now";
      try {
        await rename(from, to);
      } catch (thrown) {
        if (errno(thrown) !== "EXDEV") throw thrown;
        await copyAcross(from, to, { keep: true });
      }
      return undefined;
    });
  } catch (thrown) {
    return isGone(thrown) ? "the folder that it was in is gone" : thrownMessage(thrown);
  }
}

/** Makes a link again that was there before, where nothing is now. */
export async function linkAgain(path: string, target: string, reach: Reach): Promise<boolean> {
  try {
    await inParent(path, { ...reach, make: false }, (folder) => symlink(target, folder.entry(basename(path))));
    return true;
  } catch {
    return false;
  }
}

/** Makes a folder readable that its owner may not read. */
export async function openUp(path: string, reach: Reach): Promise<void> {
  const open = async (at: string): Promise<void> => {
    const { mode } = await lstat(at);
    await chmod(at, (mode & 0o777) | 0o700);
  };
  try {
    if (reach.roots.includes(path)) await open(path);
    else await inParent(path, { ...reach, make: false }, (folder) => open(folder.entry(basename(path))));
  } catch (thrown) {
    if (isGone(thrown)) return;
    const why = thrownMessage(thrown);
    throw new TuttiError("io", `${path} cannot be searched for protected files: ${why}; look at it and remove it`, {
      cause: thrown,
      details: { path },
    });
  }
}

function inParent<T>(
  path: string,
  { roots, offLimits, make }: Reach & { readonly make: boolean },
  use: (folder: Folder) => Promise<T>,
): Promise<T> {
  const root = roots.find((folder) => path.startsWith(`${folder}/`));
  if (root === undefined) throw new TuttiError("refused", `${path} is in none of the folders of the task`);
  const parent = dirname(path);
  const names = relative(root, parent)
    .split("/")
    .filter((name) => name !== "");
  return inFolder({ root, names, path: parent }, { make, offLimits }, use);
}

function isGone(thrown: unknown): boolean {
  return errno(thrown) === "ENOENT" || (thrown instanceof TuttiError && thrown.code === "not_found");
}

/** The copy has its name only when it is whole. Named pipes, sockets and devices have no content and are left out. */
async function copyAcross(from: string, to: string, { keep = false } = {}): Promise<void> {
  const draft = join(dirname(to), `.tutti-${crypto.randomUUID()}`);
  try {
    await cp(from, draft, {
      recursive: true,
      verbatimSymlinks: true,
      preserveTimestamps: true,
      errorOnExist: true,
      force: false,
      filter: async (path) => {
        const stats = await lstat(path);
        return stats.isFile() || stats.isDirectory() || stats.isSymbolicLink();
      },
    });
    await rename(draft, to).catch((thrown: unknown) => {
      if (errno(thrown) !== "ENOENT") throw thrown;
    });
    if (!keep) await rm(from, { recursive: true });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
