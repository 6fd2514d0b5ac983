// Walks the files below a folder of the workspace, sorted by name, without following links. Runs in the search thread.

import {
  type BigIntStats,
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
} from "node:fs";

import { globMatcher, type IgnoreFile, readIgnoreFile } from "./glob.ts";
import { type OffLimits, offLimitsError } from "./off-limits.ts";
import { hasOpenPaths } from "./workspace-folder.ts";

export interface WalkedEntry {
  /** Relative to the folder the walk began in, with forward slashes. */
  readonly path: string;
  readonly kind: "file" | "folder" | "link" | "other";
  readonly bytes: number;
  /** Opens the file for reading, as long as the walk is at this entry; undefined when it is gone or not a regular file. */
  open(): OpenFile | undefined;
}

interface OpenFile {
  readonly fd: number;
  readonly size: number;
}

export interface WalkOptions {
  /** The real path of the root, and the names from there to where the walk begins. */
  readonly root: string;
  readonly names: readonly string[];
  /** How many levels to walk; 1 means only the folder's own entries. */
  readonly depth: number;
  /** Whether ignored files are walked too. */
  readonly ignored: boolean;
  /** Left out of the walk. */
  readonly offLimits: OffLimits;
  /** Called for every folder that cannot be read. */
  readonly onUnreadable: (path: string) => void;
}

/** Skipped without any ignore file, unless ignored files are walked too. */
const alwaysIgnored = new Set([".git", "node_modules"]);
const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const fileFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const largestIgnoreFile = 2 ** 20;

interface Level {
  readonly at: string;
  /** Relative to the start; empty, or with a slash at its end. */
  readonly prefix: string;
  readonly depth: number;
  /** The ignore files that apply here, the outermost first, each with the prefix of its folder. */
  readonly ignore: readonly { readonly prefix: string; readonly file: IgnoreFile }[];
}

/** Every folder stays open while its contents are walked, so that none can be replaced by a link meanwhile. */
export function* walk(options: WalkOptions): Generator<WalkedEntry> {
  const opened: number[] = [];
  try {
    let at = options.root;
    opened.push(openSync(at, folderFlags));
    refuseOpened(opened, at, options);
    for (const name of options.names) {
      const fd = openSync(`${pathOf(opened.at(-1) ?? -1, at)}/${name}`, folderFlags);
      opened.push(fd);
      at = `${at}/${name}`;
      refuseOpened(opened, at, options);
    }
    const start = pathOf(opened.at(-1) ?? -1, at);
    yield* level({ at: start, prefix: "", depth: 1, ignore: [] }, options);
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

function refuseOpened(opened: readonly number[], path: string, { offLimits }: WalkOptions): void {
  if (offLimits.holds(fstatSync(opened.at(-1) ?? -1, { bigint: true }))) throw offLimitsError(path);
}

function* level(here: Level, options: WalkOptions): Generator<WalkedEntry> {
  const ignore = options.ignored ? [] : [...here.ignore, ...ignoreFileIn(here, options.offLimits)];
  for (const entry of entriesOf(here, options)) {
    const path = `${here.prefix}${entry.name}`;
    const isFolder = entry.isDirectory();
    if (!options.ignored && isIgnored(path, { name: entry.name, isFolder, ignore })) continue;
    const at = `${here.at}/${entry.name}`;
    const stats = statIfThere(at);
    if (stats === undefined || options.offLimits.holds(stats)) continue;
    yield { path, kind: kindOf(entry), bytes: Number(stats.size), open: () => openFile(at, options.offLimits) };
    if (isFolder && here.depth < options.depth) {
      yield* below({ ...here, prefix: `${path}/`, depth: here.depth + 1, ignore }, entry.name, options);
    }
  }
}

function* below(inner: Level, name: string, options: WalkOptions): Generator<WalkedEntry> {
  let fd: number;
  const path = `${inner.at}/${name}`;
  try {
    fd = openSync(path, folderFlags);
  } catch {
    options.onUnreadable(inner.prefix);
    return;
  }
  try {
    if (options.offLimits.holds(fstatSync(fd, { bigint: true }))) return;
    yield* level({ ...inner, at: pathOf(fd, path) }, options);
  } finally {
    closeSync(fd);
  }
}

function pathOf(fd: number, path: string): string {
  return hasOpenPaths ? `/proc/self/fd/${fd}` : path;
}

function entriesOf(here: Level, { onUnreadable }: WalkOptions): Dirent[] {
  try {
    const entries = readdirSync(here.at, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    onUnreadable(here.prefix);
    return [];
  }
}

function isIgnored(
  path: string,
  { name, isFolder, ignore }: { readonly name: string; readonly isFolder: boolean; readonly ignore: Level["ignore"] },
): boolean {
  if (alwaysIgnored.has(name)) return true;
  for (const { prefix, file } of ignore.toReversed()) {
    const ignored = file.ignores(path.slice(prefix.length), isFolder);
    if (ignored !== undefined) return ignored;
  }
  return false;
}

function ignoreFileIn({ at, prefix }: Level, offLimits: OffLimits): Level["ignore"] {
  const opened = openFile(`${at}/.gitignore`, offLimits);
  if (opened === undefined) return [];
  try {
    if (opened.size > largestIgnoreFile) return [];
    const bytes = Buffer.alloc(opened.size);
    const length = readSync(opened.fd, bytes, 0, opened.size, 0);
    return [{ prefix, file: readIgnoreFile(bytes.toString("utf8", 0, length)) }];
  } finally {
    closeSync(opened.fd);
  }
}

/** A file that is off limits is not even opened: closing a descriptor of a database drops the locks on it. */
function openFile(path: string, offLimits: OffLimits): OpenFile | undefined {
  const before = statIfThere(path);
  if (before === undefined || offLimits.holds(before)) return undefined;
  let fd: number;
  try {
    fd = openSync(path, fileFlags);
  } catch {
    return undefined;
  }
  const stats = fstatSync(fd, { bigint: true });
  if (stats.isFile() && !offLimits.holds(stats)) return { fd, size: Number(stats.size) };
  closeSync(fd);
  return undefined;
}

function statIfThere(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}

function kindOf(entry: Dirent): WalkedEntry["kind"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "link" : "other";
}

/** Accepts the paths that match the pattern; every path when there is none. */
export function pathFilter(glob: string | undefined): (path: string) => boolean {
  return glob === undefined ? () => true : globMatcher(glob);
}
