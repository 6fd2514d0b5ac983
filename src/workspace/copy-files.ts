// Copies files that git does not track, such as `.env`, from the person's checkout into a workspace, never through a link.

import { constants } from "node:fs";
import { copyFile, lstat, mkdir, readdir, rm } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize, sep } from "node:path";

import { errno } from "../core/errno.ts";
import { TuttiError } from "../protocol/error.ts";

export interface CopiedFiles {
  /** Paths of the list that were copied. */
  readonly copied: readonly string[];
  /** Paths that were not, each with the reason. */
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
}

/** What is copied at most, so that a list that names a huge folder does not fill the disk. */
const mostFiles = 200_000;

/** `list` holds files and folders, relative to `from`. What does not exist is skipped. */
export async function copyFiles(list: readonly string[], from: string, to: string): Promise<CopiedFiles> {
  const copied: string[] = [];
  const skipped: { path: string; reason: string }[] = [];
  let left = mostFiles;
  const copyOne = async (path: string): Promise<void> => {
    const problem = (await linkOn(from, path)) ?? (await linkOn(to, dirname(path)));
    if (problem !== undefined) {
      skipped.push({ path, reason: problem });
      return;
    }
    const found = await lstat(join(from, path)).catch((thrown: unknown) => errno(thrown) ?? String(thrown));
    if (typeof found === "string") {
      skipped.push({ path, reason: found === "ENOENT" ? "it does not exist" : found });
    } else if (found.isDirectory()) {
      await mkdir(join(to, path), { recursive: true });
      for (const name of await readdir(join(from, path))) {
        if (name !== ".git") await copyOne(join(path, name));
      }
    } else if (found.isFile()) {
      left -= 1;
      if (left < 0) throw new TuttiError("too_large", `more than ${mostFiles} files would be copied; copy less`);
      await mkdir(join(to, dirname(path)), { recursive: true });
      // What stands there may be a link that leads elsewhere; it is replaced, not written through.
      await rm(join(to, path), { force: true, recursive: true });
      await copyFile(join(from, path), join(to, path), constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    } else skipped.push({ path, reason: "it is neither a file nor a folder" });
  };
  for (const wanted of list) {
    const path = insidePath(wanted);
    const before = skipped.length;
    await copyOne(path);
    if (!skipped.slice(before).some((each) => each.path === path)) copied.push(path);
  }
  return { copied, skipped };
}

function insidePath(wanted: string): string {
  const path = normalize(wanted).replace(/[/\\]+$/, "");
  const names = path.split(sep);
  if (isAbsolute(path) || path === "." || path === "" || names.includes("..") || path.includes("\0")) {
    throw new TuttiError("invalid_input", `${JSON.stringify(wanted)} cannot be copied: name a path inside the project`);
  }
  if (names.some((name) => name.toLowerCase() === ".git")) {
    throw new TuttiError("invalid_input", `${JSON.stringify(wanted)} cannot be copied: it belongs to git`);
  }
  return path;
}

/** A name on the way that is a link, as a reason; undefined when there is none. */
export async function linkOn(folder: string, path: string): Promise<string | undefined> {
  const names = path === "." ? [] : path.split(sep);
  for (let depth = 1; depth <= names.length; depth += 1) {
    const part = join(folder, ...names.slice(0, depth));
    const found = await lstat(part).catch(() => undefined);
    if (found?.isSymbolicLink() === true) return `${part} is a link`;
  }
  return undefined;
}
