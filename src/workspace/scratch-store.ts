// A place for an index and new objects while Tutti works, outside of what a session can write, and removed afterwards.

import { mkdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";

import type { ObjectStore } from "./own-git.ts";

export interface Scratch {
  readonly folder: string;
  /** The path of an index file that does not exist yet. */
  readonly index: string;
  /** New objects are written here; those of the repository are found, too. */
  readonly objects: ObjectStore;
}

/** `parent` is made if it is missing. */
export async function withScratch<T>(
  parent: string,
  gitDir: string,
  work: (scratch: Scratch) => Promise<T>,
): Promise<T> {
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(parent, "scratch-"));
  const objects = join(folder, "objects");
  mkdirSync(objects);
  try {
    return await work({
      folder,
      index: join(folder, "index"),
      objects: { folder: objects, alternates: [join(gitDir, "objects")] },
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
