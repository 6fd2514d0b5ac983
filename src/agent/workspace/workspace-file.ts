// Regular files of the workspace: opened without following a link or waiting for a pipe, replaced whole or not at all.

import { constants, type BigIntStats } from "node:fs";
import { access, type FileHandle, lstat, open, rename, unlink } from "node:fs/promises";

import { TuttiError } from "../../protocol/error.ts";
import { errno, type ResolvedPath, resolvePath } from "./workspace.ts";
import { type Folder, inFolder } from "./workspace-folder.ts";

export interface WorkspaceFile {
  readonly folder: Folder;
  readonly name: string;
  readonly path: string;
}

interface FileUse {
  readonly roots: readonly string[];
  /** `make` makes the folders the file needs. */
  readonly to: "read" | "change" | "make";
}

/** A path that names a root itself is refused. */
export async function withFile<T>(
  path: string,
  { roots, to }: FileUse,
  use: (file: WorkspaceFile) => Promise<T>,
): Promise<T> {
  const place = await resolvePath(path, roots);
  const name = place.names.at(-1);
  if (name === undefined) throw isFolder(place.path);
  const above: ResolvedPath = { ...place, names: place.names.slice(0, -1) };
  if (to !== "read") refuseGit(place);
  return inFolder(above, { make: to === "make" }, (folder) => use({ folder, name, path: place.path }));
}

/** What git keeps there makes it run programs, also outside of any sandbox. */
function refuseGit({ names, path }: ResolvedPath): void {
  // Letters some file systems do not tell apart, and characters they leave out.
  const plain = (name: string): string =>
    name
      .normalize("NFKC")
      .replaceAll(/\p{Cf}/gu, "")
      .toLowerCase();
  if (names.some((name) => plain(name) === ".git")) {
    throw new TuttiError("refused", `${path} belongs to git itself; use git to change it`);
  }
}

/** The handle is closed when `use` has ended. */
export async function readingFile<T>(
  { folder, name, path }: WorkspaceFile,
  use: (handle: FileHandle, stats: BigIntStats) => Promise<T>,
): Promise<T> {
  const entry = folder.entry(name);
  refuseOdd(await lstat(entry), path);
  // Looked at again once it is open: a pipe or a device may have taken its place, and must not be waited for.
  const handle = await open(entry, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat({ bigint: true });
    refuseOdd(stats, path);
    return await use(handle, stats);
  } finally {
    await handle.close();
  }
}

/** `unless` it was changed since these were taken. Its mode is kept; a hard link of it elsewhere keeps the old content. */
export async function replaceFile(
  { folder, name, path }: WorkspaceFile,
  content: string | Uint8Array,
  since?: BigIntStats,
): Promise<{ readonly created: boolean }> {
  const entry = folder.entry(name);
  const before = await lookAt(entry);
  if (before !== undefined) {
    refuseOdd(before, path);
    await access(entry, constants.W_OK);
  }
  const temporary = folder.entry(`.tutti-${crypto.randomUUID()}.tmp`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const handle = await open(temporary, flags, 0o644);
  try {
    try {
      await handle.writeFile(content);
      if (before !== undefined) await handle.chmod(Number(before.mode) & 0o777);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (since !== undefined) refuseChanged(since, await lookAt(entry), path);
    await rename(temporary, entry);
  } catch (thrown) {
    await unlink(temporary).catch(() => undefined);
    throw thrown;
  }
  return { created: before === undefined };
}

async function lookAt(entry: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(entry, { bigint: true });
  } catch (thrown) {
    if (errno(thrown) === "ENOENT") return undefined;
    throw thrown;
  }
}

function refuseChanged(since: BigIntStats, now: BigIntStats | undefined, path: string): void {
  const same = now?.ino === since.ino && now.mtimeNs === since.mtimeNs && now.size === since.size;
  if (!same) throw new TuttiError("conflict", `${path} was changed meanwhile; read it again`);
}

interface Kind {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

function refuseOdd(kind: Kind, path: string): void {
  if (kind.isFile()) return;
  if (kind.isDirectory()) throw isFolder(path);
  if (kind.isSymbolicLink()) throw new TuttiError("refused", `${path} is a link that is not followed`);
  throw new TuttiError("refused", `${path} is neither a file nor a folder`);
}

function isFolder(path: string): TuttiError {
  return new TuttiError("refused", `${path} is a folder`);
}
