// The files of a project that a server is started from: a copy of what a person agreed to, which no session can change.

import { createHash, randomUUID } from "node:crypto";
import { type Dirent, lstatSync, readdirSync, readlinkSync } from "node:fs";
import { mkdir, readFile, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";

import { errno } from "../core/errno.ts";
import { fileHash } from "../files/file-hash.ts";
import { TuttiError } from "../protocol/error.ts";
import type { StdioServer } from "../protocol/invocation/mcp-servers.ts";
import { canonicalHash } from "./canonical-hash.ts";

/** Path in the project → `sha256 …` of a file's content, or `link to …`. */
export type CodeFiles = Readonly<Record<string, string>>;

export interface ServerCode {
  /** The real path of the project; undefined when there is none. */
  readonly project: string | undefined;
  readonly files: CodeFiles;
}

const linkMark = "link to ";

function linkTo(target: string): string {
  return `${linkMark}${target}`;
}

export function contentMark(hash: string): string {
  return `sha256 ${hash}`;
}

/**
 * The folder of the copy. It is made of exactly the bytes that were hashed, and looked through before each start. Throws
 * `refused` when the project has other files by now.
 */
export async function copyOfCode(state: string, { project, files }: ServerCode): Promise<string> {
  const folder = join(state, "mcp-code", canonicalHash(files).slice(0, 32));
  if (isIntact(folder, files)) return realpath(folder);
  const made = `${folder}.${randomUUID()}`;
  try {
    await mkdir(made, { recursive: true, mode: 0o700 });
    for (const [path, mark] of Object.entries(files))
      await copyOne(join(project ?? made, path), join(made, path), mark);
    // A link that another link leads to would have its place, and so lead out of the copy.
    if (!isIntact(made, files))
      throw new TuttiError("refused", "a file of the server lies behind a link; name it by its own path");
    await rm(folder, { recursive: true, force: true });
    await rename(made, folder);
  } catch (thrown) {
    await rm(made, { recursive: true, force: true });
    // Another start of the same server was faster.
    if (!["ENOTEMPTY", "EEXIST"].includes(errno(thrown) ?? "") || !isIntact(folder, files)) throw thrown;
  }
  return realpath(folder);
}

async function copyOne(from: string, to: string, mark: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  if (mark.startsWith(linkMark)) return symlink(mark.slice(linkMark.length), to);
  const content = await readFile(from).catch(() => undefined);
  const found = content === undefined ? undefined : createHash("sha256").update(content).digest("hex");
  if (content === undefined || found === undefined || contentMark(found) !== mark) {
    throw new TuttiError("refused", `${from} has changed since a person agreed to the server that it belongs to`);
  }
  await writeFile(to, content, { flag: "wx", mode: 0o500 });
}

/** Nothing is missing, changed or added. */
function isIntact(folder: string, files: CodeFiles): boolean {
  try {
    const found = filesBelow(folder);
    return (
      found.length === Object.keys(files).length &&
      found.every((path) => Object.hasOwn(files, path) && files[path] === markOf(join(folder, path)))
    );
  } catch {
    return false;
  }
}

/** Throws for what is neither a file nor a link: reading it might never end. */
export function markOf(path: string): string {
  const stats = lstatSync(path, { bigint: true });
  if (!stats.isSymbolicLink() && !stats.isFile()) throw new TuttiError("refused", `${path} is no file`);
  return stats.isSymbolicLink() ? linkTo(readlinkSync(path)) : contentMark(fileHash(path, stats));
}

/** Everything in the folder that is no folder, by its path there. */
export function filesBelow(folder: string, below = ""): string[] {
  return readdirSync(join(folder, below), { withFileTypes: true }).flatMap((entry: Dirent) => {
    const path = join(below, entry.name);
    return entry.isDirectory() ? filesBelow(folder, path) : [path];
  });
}

/** The path in the folder; undefined for one that is outside. */
export function pathInside(folder: string, path: string): string | undefined {
  const below = relative(folder, path);
  return below === ".." || below.startsWith(`..${sep}`) || isAbsolute(below) ? undefined : below;
}

/** What could be a path in a word of the settings: the word, and in `--option=path` what stands after the sign. */
export function pathsIn(word: string): string[] {
  const at = word.indexOf("=");
  return at === -1 ? [word] : [word, word.slice(at + 1)];
}

/** The settings with the copies in place of files that they name by a full path. A relative path is found in the copy anyway. */
export function inCopy(
  entry: StdioServer,
  { code, copy, roots }: { readonly code: ServerCode; readonly copy: string; readonly roots: readonly string[] },
): StdioServer {
  const bases = [...(code.project === undefined ? [] : [code.project]), ...roots];
  const moved = (path: string): string => {
    if (!isAbsolute(path)) return path;
    const below = bases.map((base) => pathInside(base, resolve(path))).find((each) => each !== undefined);
    return below !== undefined && Object.hasOwn(code.files, below) ? join(copy, below) : path;
  };
  const word = (text: string): string => {
    const [, value] = pathsIn(text);
    return value === undefined ? moved(text) : `${text.slice(0, text.length - value.length)}${moved(value)}`;
  };
  const env = Object.fromEntries(Object.entries(entry.env).map(([name, value]) => [name, word(value)]));
  return { ...entry, command: word(entry.command), args: entry.args.map(word), env };
}

/** Whether a word leads into the folders themselves, whose content a session can change at any time. */
export function namesLivePath({ command, args, env }: StdioServer, folders: readonly string[]): boolean {
  const paths = [command, ...args, ...Object.values(env)].flatMap(pathsIn).filter(isAbsolute);
  return paths.some((path) => folders.some((folder) => pathInside(folder, resolve(path)) !== undefined));
}
