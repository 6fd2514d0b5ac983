// Makes a snapshot of a folder that has no history: a commit whose id depends on the files alone stands for its state.

import { existsSync } from "node:fs";
import { join } from "node:path";

import { makeCopyGit } from "../workspace/folder-copy.ts";
import { makeCommit } from "../workspace/make-commit.ts";
import { openGit } from "../workspace/own-git.ts";
import { withScratch } from "../workspace/scratch-store.ts";
import { snapshotTree } from "../workspace/snapshot-tree.ts";

export interface FolderSnapshot {
  readonly commit: string;
  /** The hash of the files. */
  readonly tree: string;
}

export interface SnapshotWish {
  readonly folder: string;
  /** Where the snapshots of this folder are kept, outside of it; made by the first one. */
  readonly gitDir: string;
  /** Paths that are no work, such as the state folder. */
  readonly exclude?: readonly string[];
  readonly signal?: AbortSignal;
}

/** A folder with more than this is no project that one copies for every check. */
const mostBytes = 4 * 1024 ** 3;

/** Use it before the session and after it: `runChecks` takes both as `base` and `commit`, with `showGit` false. */
export async function snapshotFolder({ folder, gitDir, exclude = [], signal }: SnapshotWish): Promise<FolderSnapshot> {
  const git = existsSync(gitDir) ? await openGit(gitDir, signal) : await makeCopyGit(gitDir);
  return withScratch(`${gitDir}.scratch`, gitDir, async ({ folder: scratch, index }) => {
    const objects = { folder: join(gitDir, "objects"), alternates: [] };
    const { tree } = await snapshotTree({
      git,
      workTree: folder,
      from: undefined,
      scratch: { folder: scratch, index, objects },
      exclude: [...exclude, ".git"],
      maxBytes: mostBytes,
      signal,
    });
    const commit = await makeCommit(git, {
      tree,
      parents: [],
      message: "The files as they were",
      anonymous: true,
      signal,
    });
    await git.run(["update-ref", `refs/tutti/snapshots/${commit}`, commit], { signal });
    return { commit, tree };
  });
}
