// Finishes or undoes what was under way when the process ended: a workspace half made or half removed.

import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

import { thrownMessage } from "../protocol/error.ts";
import { readRef } from "./find-repository.ts";
import { openGit } from "./own-git.ts";
import { forgetRecord, readRecords, type WorkspaceStore, writeRecord } from "./record-store.ts";
import { removeFiles } from "./remove-files.ts";
import { branchRef, sessionFolder, type Workspace } from "./workspace-record.ts";

export interface Recovered {
  readonly id: string;
  readonly did: "undone" | "finished" | "kept" | "failed";
  readonly problem?: string;
}

/** Call it once after opening the store, before any other process of Tutti uses it. Nothing that it cannot undo is lost. */
export async function recoverWorkspaces(store: WorkspaceStore): Promise<Recovered[]> {
  const recovered: Recovered[] = [];
  for (const workspace of readRecords(store).workspaces) {
    const { id, state } = workspace;
    try {
      await removeScratch(workspace);
      if (state === "creating") {
        await undoCreating(store, workspace);
        recovered.push({ id, did: "undone" });
      } else if (state === "removing") recovered.push({ id, did: await settleRemoving(store, workspace) });
    } catch (thrown) {
      recovered.push({ id, did: "failed", problem: thrownMessage(thrown) });
    }
  }
  return recovered;
}

/** Removes what was made so far. A workspace that was being made again is as removed as before. */
export async function undoCreating(store: WorkspaceStore, workspace: Workspace): Promise<void> {
  const wasRemoved = workspace.head !== null;
  await removeFiles(workspace, wasRemoved && workspace.mode === "copy");
  if (wasRemoved) {
    writeRecord(store, { ...workspace, state: "removed" });
    return;
  }
  const { git_dir, branch, base } = workspace;
  if (workspace.new_branch && branch !== null && base !== null && git_dir !== null && existsSync(git_dir)) {
    const git = await openGit(git_dir);
    // No session has worked there yet, so a branch that names something else is not ours.
    if ((await readRef(git, branchRef(branch))) === base) await git.run(["update-ref", "-d", branchRef(branch), base]);
  }
  forgetRecord(store, workspace.id);
}

/** The folder is removed by renaming it. As long as it is in its place nothing is gone, and somebody may have worked there. */
async function settleRemoving(store: WorkspaceStore, workspace: Workspace): Promise<"kept" | "finished"> {
  if (existsSync(workspace.folder)) {
    writeRecord(store, { ...workspace, head: null, state: "ready" });
    return "kept";
  }
  await removeFiles(workspace, workspace.mode === "copy");
  writeRecord(store, { ...workspace, state: "removed" });
  return "finished";
}

async function removeScratch(workspace: Workspace): Promise<void> {
  if (workspace.mode === "shared") return;
  const folder = sessionFolder(workspace);
  for (const name of await readdir(folder).catch(() => [])) {
    if (name.startsWith("scratch-")) await rm(join(folder, name), { recursive: true, force: true });
  }
}
