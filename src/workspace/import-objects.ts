// Brings commits from a store that a session could write into the repository: every object is checked on the way.

import { mkdirSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { dirname } from "node:path";

import type { Confine, ObjectStore, OwnGit } from "./own-git.ts";

export interface ObjectImport {
  readonly git: OwnGit;
  readonly from: ObjectStore;
  /** Full ids of the commits wanted. */
  readonly commits: readonly string[];
  /** Commits that the repository has already. */
  readonly known: readonly string[];
  /** Where the objects are packed; removed afterwards. */
  readonly packFile: string;
  readonly maxBytes?: number | undefined;
  /** Reads the session's store confined, because its content may be anything. */
  readonly confine?: Confine | undefined;
  readonly signal?: AbortSignal | undefined;
}

const defaultMaxBytes = 1024 ** 3;

/**
 * Throws when an object is damaged, missing, forbidden by git's strict checks, or when all of them are too large. Nothing in the
 * repository is changed then. Afterwards the objects are there, and no ref names them yet.
 */
export async function importObjects(request: ObjectImport): Promise<void> {
  const { git, from, commits, known, packFile, confine, maxBytes = defaultMaxBytes, signal } = request;
  if (commits.length === 0) return;
  mkdirSync(dirname(packFile), { recursive: true, mode: 0o700 });
  await using file = await open(packFile, "w+", 0o600);
  try {
    const wanted = [...commits, ...known.map((commit) => `^${commit}`)].map((line) => `${line}\n`).join("");
    await git.run(["pack-objects", "--revs", "--stdout", "--quiet", "--no-reuse-delta", "--no-reuse-object"], {
      objects: from,
      input: wanted,
      stdout: file.fd,
      signal,
      ...(confine === undefined
        ? {}
        : { confined: { confine: withReadable(confine, dirname(from.folder)), writable: [] } }),
    });
    await using pack = await open(packFile, "r");
    await git.run(["index-pack", "--stdin", "--strict", "--fsck-objects", `--max-input-size=${maxBytes}`], {
      stdin: pack.fd,
      signal,
    });
  } finally {
    await rm(packFile, { force: true });
  }
}

function withReadable(confine: Confine, folder: string): Confine {
  return (command) => confine({ ...command, readable: [...command.readable, folder] });
}
