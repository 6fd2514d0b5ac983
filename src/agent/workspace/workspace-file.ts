// Regular files of the workspace: opened without following links or blocking on pipes, and replaced as a whole or not at all.

import { createHash } from "node:crypto";
import { constants, type BigIntStats } from "node:fs";
import { access, type FileHandle, lstat, open, rename, unlink } from "node:fs/promises";

import { errno } from "../../core/errno.ts";
import { TuttiError } from "../../protocol/error.ts";
import { type OffLimits, offLimitsError } from "./off-limits.ts";
import { refuseProtected } from "./protected-files.ts";
import { type ResolvedPath, resolvePath } from "./resolve-path.ts";
import { type Folder, inFolder } from "./workspace-folder.ts";

export interface WorkspaceFile {
  readonly folder: Folder;
  readonly name: string;
  readonly path: string;
  readonly offLimits: OffLimits;
}

interface FileUse {
  readonly roots: readonly string[];
  readonly offLimits: OffLimits;
  /** `make` also creates the folders the file needs. */
  readonly to: "read" | "change" | "make";
  /** Exact paths of protected files that a person has agreed to have changed. */
  readonly approved?: readonly string[] | undefined;
}

/** Calls `use` while the file's folder is held open. A path that names a root itself is refused. */
export async function withFile<T>(
  path: string,
  { roots, offLimits, to, approved = [] }: FileUse,
  use: (file: WorkspaceFile) => Promise<T>,
): Promise<T> {
  const resolved = await resolvePath(path, roots);
  const name = resolved.names.at(-1);
  if (name === undefined) throw isFolder(resolved.path);
  const parent: ResolvedPath = { ...resolved, names: resolved.names.slice(0, -1) };
  if (to !== "read") await refuseProtected(resolved, approved);
  return inFolder(parent, { make: to === "make", offLimits }, (folder) =>
    use({ folder, name, path: resolved.path, offLimits }),
  );
}

/** Opens the file for as long as `use` runs. */
export async function readingFile<T>(
  { folder, name, path, offLimits }: WorkspaceFile,
  use: (handle: FileHandle, stats: BigIntStats) => Promise<T>,
): Promise<T> {
  const entry = folder.entry(name);
  const before = await lstat(entry, { bigint: true });
  refuseUnlessFile(before, path);
  // Before it is opened: closing any descriptor of a database drops the locks that this process has on it.
  if (offLimits.holds(before)) throw offLimitsError(path);
  // Checked again below, once it is open: a pipe or device may have replaced it, and opening that must not block.
  const handle = await open(entry, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat({ bigint: true });
    refuseUnlessFile(stats, path);
    if (offLimits.holds(stats)) throw offLimitsError(path);
    return await use(handle, stats);
  } finally {
    await handle.close();
  }
}

/** Larger files are not compared or edited; nobody writes them by hand. */
export const largestText = 8 * 2 ** 20;

export interface FileContent {
  readonly size: bigint;
  /** Undefined when the file is too large. */
  readonly bytes: Uint8Array | undefined;
  /** Identifies the content: its hash or, for a large file, which file it is and when it was changed. */
  readonly mark: string;
}

export async function readContent(handle: FileHandle, { size, ino, mtimeNs }: BigIntStats): Promise<FileContent> {
  if (size > BigInt(largestText)) return { size, bytes: undefined, mark: `stat ${ino} ${mtimeNs} ${size}` };
  const bytes = await handle.readFile();
  return { size, bytes, mark: `sha256 ${createHash("sha256").update(bytes).digest("hex")}` };
}

/** Fails if the file was changed after `since`, or made when that is null. Keeps the file's mode; a hard link to it elsewhere keeps the old content. */
export async function replaceFile(
  { folder, name, path, offLimits }: WorkspaceFile,
  content: string | Uint8Array,
  since?: BigIntStats | null,
): Promise<{ readonly created: boolean }> {
  const entry = folder.entry(name);
  const before = await statEntry(entry);
  if (before !== undefined) {
    refuseUnlessFile(before, path);
    if (offLimits.holds(before)) throw offLimitsError(path);
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
    if (since !== undefined) refuseChanged(since, await statEntry(entry), path);
    await rename(temporary, entry);
  } catch (thrown) {
    await unlink(temporary).catch(() => undefined);
    throw thrown;
  }
  return { created: before === undefined };
}

async function statEntry(entry: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(entry, { bigint: true });
  } catch (thrown) {
    if (errno(thrown) === "ENOENT") return undefined;
    throw thrown;
  }
}

function refuseChanged(since: BigIntStats | null, now: BigIntStats | undefined, path: string): void {
  const same = now?.ino === since?.ino && now?.mtimeNs === since?.mtimeNs && now?.size === since?.size;
  if (!same) throw new TuttiError("conflict", `${path} was changed meanwhile; read it again`);
}

interface FileKind {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

function refuseUnlessFile(kind: FileKind, path: string): void {
  if (kind.isFile()) return;
  if (kind.isDirectory()) throw isFolder(path);
  if (kind.isSymbolicLink()) throw new TuttiError("refused", `${path} is a link that is not followed`);
  throw new TuttiError("refused", `${path} is neither a file nor a folder`);
}

function isFolder(path: string): TuttiError {
  return new TuttiError("refused", `${path} is a folder`);
}
