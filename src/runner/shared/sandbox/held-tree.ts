// Looks through a file or a folder that is held: its size and its hash, and what a person should see of it.

import { createHash, type Hash } from "node:crypto";
import { constants } from "node:fs";
import { chmod, copyFile, lstat, open, readdir, readlink, rename, rm } from "node:fs/promises";
import { join } from "node:path";

import type { HeldFile } from "../../../agent/tools/held-look.ts";

export interface Measured {
  readonly bytes: number;
  readonly files: number;
  readonly hash: string;
  /** Named pipes, sockets and devices that were removed. */
  readonly dropped: number;
}

/** The content of this much is part of the hash. Of what comes after it, sizes and times are. */
const mostHashedBytes = 512 * 1024 * 1024;

/**
 * With `claim`, what is held becomes private: a file that has a second name elsewhere is replaced by a copy, so that
 * nobody can change it through that name, and special files are removed.
 */
export async function measure(path: string, { claim = false } = {}): Promise<Measured> {
  const sum = { bytes: 0, files: 0, dropped: 0 };
  const hash = createHash("sha256");
  // As bytes, since names that are not UTF-8 would be other names as text.
  const walk = async (at: Buffer, name: Buffer): Promise<void> => {
    const stats = await lstat(at);
    if (stats.isSymbolicLink()) {
      sum.files += 1;
      update(hash, "link\0", name, "\0", await readlink(at, "buffer"), "\0");
    } else if (stats.isDirectory()) {
      // The owner may have no right to list it or to change it.
      if (claim && (stats.mode & 0o700) !== 0o700) await chmod(at, stats.mode | 0o700);
      update(hash, "folder\0", name, "\0");
      for (const entry of (await readdir(at, "buffer")).toSorted((one, other) => one.compare(other))) {
        await walk(Buffer.concat([at, slash, entry]), Buffer.concat([name, slash, entry]));
      }
    } else if (stats.isFile()) {
      if (claim && (stats.mode & 0o400) === 0) await chmod(at, stats.mode | 0o400);
      if (claim && stats.nlink > 1) await replaceByCopy(at);
      sum.files += 1;
      sum.bytes += stats.size;
      update(hash, "file\0", name, `\0${stats.mode & 0o111}\0${stats.size}\0`);
      if (sum.bytes <= mostHashedBytes) await hashContent(hash, at);
      else hash.update(`${stats.mtimeMs}\0`);
    } else {
      if (claim) await rm(at);
      sum.dropped += 1;
    }
  };
  await walk(Buffer.from(path), Buffer.alloc(0));
  return { ...sum, hash: hash.digest("hex") };
}

/** Neither follows a link nor waits for the writer of a named pipe, if one was put in the place of the file. */
const plainRead = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

const slash = Buffer.from("/");

function update(hash: Hash, ...parts: readonly (string | Buffer)[]): void {
  for (const part of parts) hash.update(part);
}

async function hashContent(hash: Hash, path: Buffer): Promise<void> {
  await using file = await open(path, plainRead);
  for await (const chunk of file.createReadStream({ autoClose: false })) {
    if (chunk instanceof Uint8Array) hash.update(chunk);
  }
}

async function replaceByCopy(path: Buffer): Promise<void> {
  const copy = Buffer.concat([path, Buffer.from(`.${crypto.randomUUID()}`)]);
  await copyFile(path, copy);
  await rename(copy, path);
}

/** Longer texts are named and not shown. */
const longestText = 8_000;
const mostShown = 30;

type Shown = HeldFile["shown"][number];

/** The texts of a file or of the files in a folder, while there is room for them; `room` counts characters. */
export async function showTexts(
  paths: readonly { readonly path: string; readonly name: string }[],
  room: number,
): Promise<{ readonly shown: Shown[]; readonly unshown: number; readonly room: number }> {
  const shown: Shown[] = [];
  let left = room;
  let unshown = 0;
  for (const { path, name } of paths) {
    const text = shown.length < mostShown ? await shortText(path, Math.min(left, longestText)) : undefined;
    if (text === undefined) unshown += 1;
    else {
      shown.push({ name, text });
      left -= text.length;
    }
  }
  return { shown, unshown, room: left };
}

/** Undefined when the file is longer, or is not text. */
async function shortText(path: string, longest: number): Promise<string | undefined> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats?.isSymbolicLink() === true) return `a link to ${await readlink(path)}`;
  if (stats?.isFile() !== true || stats.size > longest) return undefined;
  await using file = await open(path, plainRead);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await file.readFile());
  } catch {
    return undefined;
  }
}

/** The files in a folder, at most `most`, with names relative to it. */
export async function filesIn(folder: string, most = 1_000): Promise<{ path: string; name: string }[]> {
  const files: { path: string; name: string }[] = [];
  const walk = async (at: string, prefix: string): Promise<void> => {
    const entries = await readdir(at, { withFileTypes: true }).catch(() => []);
    for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
      if (files.length >= most) return;
      const path = join(at, entry.name);
      if (entry.isDirectory()) await walk(path, `${prefix}${entry.name}/`);
      else files.push({ path, name: `${prefix}${entry.name}` });
    }
  };
  await walk(folder, "");
  return files;
}

/** What of a git repository makes git run programs. */
export async function gitSettings(folder: string): Promise<{ path: string; name: string }[]> {
  const files = await filesIn(join(folder, "hooks"));
  const hooks = files.filter(({ name }) => !name.endsWith(".sample"));
  return [
    ...["HEAD", "config", "config.worktree", "commondir"].map((name) => ({ path: join(folder, name), name })),
    ...hooks.map(({ path, name }) => ({ path, name: `hooks/${name}` })),
  ];
}
