// The work of a session against its base as its files are now, committed or not, for somebody who looks while it works.

import { existsSync } from "node:fs";

import { usesFilters } from "./create-workspace.ts";
import { filesBetween, patchBetween } from "./diff-trees.ts";
import { type Confine, openGit } from "./own-git.ts";
import { withScratch } from "./scratch-store.ts";
import { beginningIn, type ChangedFile, changedFiles } from "./session-result.ts";
import { snapshotTree } from "./snapshot-tree.ts";
import { workLimits } from "./work-size.ts";
import { sessionFolder, type Workspace } from "./workspace-record.ts";

export interface WorkSoFar {
  readonly files: readonly ChangedFile[];
  /** As much as fits, in whole lines. */
  readonly patch: Buffer;
  readonly isCut: boolean;
}

interface Looking {
  readonly maxBytes: number;
  readonly confine: Confine | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Undefined when there is no folder of its own to look at. Neither the session's index nor its branch is touched. */
export async function workSoFar(
  workspace: Workspace,
  { maxBytes, confine, signal }: Looking,
): Promise<WorkSoFar | undefined> {
  const { git_dir, base, mode, folder } = workspace;
  if (git_dir === null || base === null || mode === "shared" || !existsSync(folder)) return undefined;
  const git = await openGit(git_dir, signal);
  return withScratch(sessionFolder(workspace), git.gitDir, async (scratch) => {
    const { tree } = await snapshotTree({
      git,
      workTree: folder,
      from: base,
      scratch,
      exclude: workspace.copied,
      maxBytes: workLimits.bytes,
      confine: mode === "worktree" && usesFilters(git) ? confine : undefined,
      signal,
    });
    const [ends, options] = [
      { base, tip: tree },
      { objects: scratch.objects, signal },
    ];
    const files = changedFiles(await filesBetween(git, ends, options));
    if (maxBytes === 0) return { files, patch: Buffer.alloc(0), isCut: files.length > 0 };
    return { files, ...beginningIn(await patchBetween(git, ends, { ...options, maxBytes, overflow: "cut" })) };
  });
}
