// Looks at the folder an agent works in: platform, git branch and the project's notes. Reads files and executes nothing.

import { constants } from "node:fs";
import { open, realpath, stat } from "node:fs/promises";
import { release } from "node:os";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";

import type { Surroundings } from "../surroundings.ts";
import { exactText } from "./text-file.ts";

/** The files that projects keep notes for agents in; the first that exists counts. */
const noteFiles = ["AGENTS.md", "CLAUDE.md"];
const longestNotes = 24 * 1024;
const longestGitFile = 4 * 1024;
const longestPackedRefs = 1024 * 1024;

export async function lookAround(folder: string, now: number): Promise<Surroundings> {
  const repository = await findRepository(folder);
  return {
    folder,
    date: localDay(now),
    platform: `${process.platform} ${release()}, ${process.arch}`,
    git: repository === undefined ? null : await checkedOut(repository.git),
    notes: await findNotes(folder, repository?.folder ?? folder),
  };
}

function localDay(now: number): string {
  const date = new Date(now);
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

interface Repository {
  /** The folder with the checkout. */
  readonly folder: string;
  /** Its git folder. */
  readonly git: string;
}

async function findRepository(folder: string): Promise<Repository | undefined> {
  for (const at of upwards(folder)) {
    const path = join(at, ".git");
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory() === true) return { folder: at, git: path };
    // The checkout of a linked worktree has a file that names its git folder.
    if (found?.isFile() === true) {
      const [, git] = /^gitdir: (.+?)\s*$/.exec((await smallText(path, longestGitFile)) ?? "") ?? [];
      return git === undefined ? undefined : { folder: at, git: resolve(at, git) };
    }
  }
  return undefined;
}

/** Read from files: running git in a folder that a stranger or a model wrote could execute what its config names. */
async function checkedOut(git: string): Promise<Surroundings["git"]> {
  const head = (await smallText(join(git, "HEAD"), longestGitFile))?.trim() ?? "";
  if (isCommit(head)) return { branch: null, commit: head };
  const [, ref, branch] = /^ref: (refs\/heads\/([^\s\p{C}]{1,200}))$/u.exec(head) ?? [];
  if (ref === undefined || branch === undefined || ref.includes("..")) return null;
  const common = (await smallText(join(git, "commondir"), longestGitFile))?.trim() ?? ".";
  const shared = resolve(git, common);
  const loose = (await smallText(join(shared, ref), longestGitFile))?.trim() ?? "";
  return { branch, commit: isCommit(loose) ? loose : await packedCommit(shared, ref) };
}

async function packedCommit(git: string, ref: string): Promise<string | null> {
  const packed = (await smallText(join(git, "packed-refs"), longestPackedRefs)) ?? "";
  const line = packed.split("\n").find((each) => each.endsWith(` ${ref}`));
  const commit = line?.split(" ", 1)[0] ?? "";
  return isCommit(commit) ? commit : null;
}

const isCommit = (text: string): boolean => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);

/** The nearest notes, from the folder up to `top`. */
async function findNotes(folder: string, top: string): Promise<Surroundings["notes"]> {
  for (const at of upwards(folder)) {
    for (const name of noteFiles) {
      const notes = await readNotes(join(at, name), top);
      if (notes !== undefined) return { file: relative(folder, join(at, name)), ...notes };
    }
    if (at === top) break;
  }
  return null;
}

async function readNotes(
  path: string,
  top: string,
): Promise<{ readonly text: string; readonly isCut: boolean } | undefined> {
  // A link must not bring a file from elsewhere into a prompt.
  const [real, realTop] = await Promise.all([realpath(path), realpath(top)]).catch(() => ["", ""]);
  const bytes = real === "" || !isInside(real, realTop) ? undefined : await firstBytes(real, longestNotes + 1);
  if (bytes === undefined) return undefined;
  const isCut = bytes.length > longestNotes;
  const text = isCut
    ? new TextDecoder().decode(bytes.subarray(0, longestNotes)).replace(/\uFFFD$/, "")
    : exactText(bytes);
  return text === undefined || text.trim() === "" || text.includes("\0") ? undefined : { text, isCut };
}

function isInside(path: string, folder: string): boolean {
  const from = relative(folder, path);
  return from === "" || (from !== ".." && !from.startsWith(`..${sep}`) && !isAbsolute(from));
}

function* upwards(folder: string): Generator<string> {
  for (let at = resolve(folder); ; at = dirname(at)) {
    yield at;
    if (dirname(at) === at) return;
  }
}

/** Undefined when there is no such file, or it is longer than such a file is. */
async function smallText(path: string, longest: number): Promise<string | undefined> {
  const bytes = await firstBytes(path, longest + 1);
  return bytes === undefined || bytes.length > longest ? undefined : new TextDecoder().decode(bytes);
}

/** At most `count` bytes of a regular file; undefined when there is none. Not blocking: opening a pipe must not wait for a writer. */
async function firstBytes(path: string, count: number): Promise<Uint8Array | undefined> {
  try {
    await using file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    if (!(await file.stat()).isFile()) return undefined;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(count), 0, count, 0);
    return buffer.subarray(0, bytesRead);
  } catch {
    return undefined;
  }
}
