// Removes a workspace without losing work, and makes a removed one again from its branch.

import { existsSync } from "node:fs";

import { TuttiError } from "../protocol/error.ts";
import { checkOutWorktree } from "./check-out.ts";
import { copyFiles } from "./copy-files.ts";
import { type EndSession, endSession, resetWorktree } from "./end-session.ts";
import { noCommit, readRef } from "./find-repository.ts";
import { checkOutCopy, copyRef } from "./folder-copy.ts";
import { mergedInto } from "./list-workspaces.ts";
import { openGit, type OwnGit } from "./own-git.ts";
import { makeRoot, forgetRecord, requireRecord, type WorkspaceStore, writeRecord } from "./record-store.ts";
import { undoCreating } from "./recover-workspaces.ts";
import { removeFiles, worktreeGitDir } from "./remove-files.ts";
import { tipRef, withUncommitted } from "./save-workspace.ts";
import { mkdirSync } from "node:fs";
import { savedRef, type Workspace } from "./workspace-record.ts";

export interface RemoveOptions extends EndSession {
  /** What happens to uncommitted work; `refuse` when absent. `save` keeps it in a ref, from which it comes back. */
  readonly uncommitted?: "refuse" | "save" | "discard" | undefined;
  /** Deletes the branch, too, when all its commits are in a branch of the person. */
  readonly deleteMergedBranch?: boolean | undefined;
}

export interface RemovedWorkspace {
  /** Undefined for a shared folder: nothing of it is kept. */
  readonly workspace: Workspace | undefined;
  /** Where the uncommitted work is. */
  readonly saved: string | undefined;
  readonly branchDeleted: boolean;
}

/** No process of the session may be alive. A branch with commits that only it has is always kept. */
export async function removeWorkspace(
  store: WorkspaceStore,
  id: string,
  options: RemoveOptions = {},
): Promise<RemovedWorkspace> {
  const workspace = requireRecord(store, id);
  if (workspace.state === "removed") return { workspace, saved: undefined, branchDeleted: false };
  if (workspace.state !== "ready") {
    throw new TuttiError("busy", `the workspace ${id} is ${workspace.state}; try again when that has ended`);
  }
  if (workspace.mode === "shared") {
    forgetRecord(store, id);
    return { workspace: undefined, saved: undefined, branchDeleted: false };
  }
  if (workspace.git_dir === null || !existsSync(workspace.git_dir)) return removeOrphan(store, workspace, options);
  const git = await openGit(workspace.git_dir, options.signal);
  const { tip, saved } = await rescue({ git, workspace }, options);
  const deletes = await maySpareBranch(store, workspace, { git, tip, options });
  const leaving = writeRecord(store, { ...workspace, head: tip, state: "removing" });
  await store.checkpoint?.("removal recorded");
  await removeFiles(leaving, workspace.mode === "copy");
  await store.checkpoint?.("files removed");
  if (deletes) await git.run(["update-ref", "-d", tipRef(workspace), tip]);
  return { workspace: writeRecord(store, { ...leaving, state: "removed" }), saved, branchDeleted: deletes };
}

/** The repository itself is gone, and with it every commit; only the files are left. */
async function removeOrphan(
  store: WorkspaceStore,
  workspace: Workspace,
  { uncommitted }: RemoveOptions,
): Promise<RemovedWorkspace> {
  if (uncommitted !== "discard") {
    throw new TuttiError(
      "refused",
      `the repository of the workspace ${workspace.id} is gone, so its work cannot be saved; copy what you need from ${workspace.folder}, then remove the workspace with its work`,
    );
  }
  await removeFiles(writeRecord(store, { ...workspace, state: "removing" }), false);
  forgetRecord(store, workspace.id);
  return { workspace: undefined, saved: undefined, branchDeleted: false };
}

/** Brings all work into the repository, or throws and changes nothing. */
async function rescue(
  { git, workspace }: { readonly git: OwnGit; readonly workspace: Workspace },
  options: RemoveOptions,
): Promise<{ readonly tip: string; readonly saved: string | undefined }> {
  const { uncommitted = "refuse" } = options;
  const session = await endSession(workspace, options);
  const [problem] = session?.problems ?? [];
  if (problem !== undefined && uncommitted !== "discard") throw refusal(workspace, problem, []);
  const tip = session?.tip ?? (await readRef(git, tipRef(workspace))) ?? workspace.base ?? "";
  if (uncommitted === "discard" || !existsSync(workspace.folder)) return { tip, saved: undefined };
  const { result } = await withUncommitted({ workspace, git, tip, ...options }, async (snapshot, commit) => {
    const [nested] = snapshot.nested;
    if (nested !== undefined) {
      throw refusal(workspace, `${nested} is a git repository of its own, which Tutti cannot save.`, snapshot.nested);
    }
    if (snapshot.changed.length === 0) return undefined;
    if (uncommitted === "refuse") {
      throw refusal(workspace, `It has ${snapshot.changed.length} uncommitted files.`, snapshot.changed);
    }
    const made = await commit(`Uncommitted work of ${workspace.id}`);
    await git.run(["update-ref", savedRef(workspace), made]);
    return savedRef(workspace);
  });
  return { tip, saved: result };
}

function refusal(workspace: Workspace, why: string, files: readonly string[]): TuttiError {
  return new TuttiError(
    "refused",
    `the workspace ${workspace.id} was not removed. ${why} Look at ${workspace.folder}; then commit the work, have it saved, or have it discarded`,
    { details: { workspace: workspace.id, files: files.slice(0, 100) } },
  );
}

interface Sparing {
  readonly git: OwnGit;
  readonly tip: string;
  readonly options: RemoveOptions;
}

/** A branch that was made for the workspace goes with it when nothing was done on it. */
async function maySpareBranch(
  store: WorkspaceStore,
  workspace: Workspace,
  { git, tip, options }: Sparing,
): Promise<boolean> {
  if (workspace.mode !== "worktree" || !workspace.new_branch) return false;
  if ((await readRef(git, tipRef(workspace))) !== tip) return false;
  // Saved work has the tip as its parent, so the commit is not lost; but the branch is where the work is looked for.
  if ((await readRef(git, savedRef(workspace))) !== undefined) return false;
  if (tip === workspace.base) return true;
  if (options.deleteMergedBranch !== true) return false;
  return (await mergedInto(store, workspace, { git, signal: options.signal })).length > 0;
}

/** Makes a workspace again that was removed or whose folder is gone: the same folder, the same branch, the saved work. */
export async function restoreWorkspace(
  store: WorkspaceStore,
  id: string,
  options: EndSession = {},
): Promise<{ readonly workspace: Workspace; readonly warnings: readonly string[] }> {
  const found = requireRecord(store, id);
  if (found.mode === "shared" || (found.state === "ready" && existsSync(found.folder))) {
    return { workspace: found, warnings: [] };
  }
  if (found.state !== "ready" && found.state !== "removed") {
    throw new TuttiError("busy", `the workspace ${id} is ${found.state}; recover the workspaces first`);
  }
  makeRoot(store);
  if (found.git_dir === null || !existsSync(found.git_dir)) {
    throw new TuttiError("not_found", `the workspace ${id} cannot be made again: its repository is gone`);
  }
  const git = await openGit(found.git_dir, options.signal);
  const head = await lastCommit(git, found);
  const record = writeRecord(store, { ...found, head, state: "creating" });
  await store.checkpoint?.("restore recorded");
  try {
    const warnings = await remake(store, record, { git, head, options });
    await store.checkpoint?.("restored");
    const workspace = writeRecord(store, { ...record, head: null, state: "ready" });
    await git.run(["update-ref", "-d", savedRef(workspace)], { expected: [1] });
    return { workspace, warnings };
  } catch (thrown) {
    await undoCreating(store, record);
    throw thrown;
  }
}

async function lastCommit(git: OwnGit, workspace: Workspace): Promise<string> {
  const commit = (await readRef(git, tipRef(workspace))) ?? workspace.head ?? workspace.base ?? "";
  if ((await git.run(["cat-file", "-e", `${commit}^{commit}`], { expected: [1, 128] })).code === 0) return commit;
  throw new TuttiError(
    "not_found",
    `the workspace ${workspace.id} cannot be made again: its branch is deleted and its commit ${commit} is gone`,
  );
}

interface Remaking {
  readonly git: OwnGit;
  readonly head: string;
  readonly options: EndSession;
}

async function remake(
  store: WorkspaceStore,
  workspace: Workspace,
  { git, head, options }: Remaking,
): Promise<string[]> {
  const saved = await readRef(git, savedRef(workspace));
  if (workspace.mode === "copy") {
    mkdirSync(workspace.folder, { mode: 0o700 });
    await checkOutCopy(git, workspace, saved ?? (await readRef(git, copyRef)) ?? head);
    return [];
  }
  if ((await readRef(git, tipRef(workspace))) === undefined) {
    await git.run(["update-ref", tipRef(workspace), head, noCommit(head)]);
  }
  const warnings = await checkOutWorktree(store, workspace, { git, confine: options.confine, signal: options.signal });
  if (saved !== undefined) {
    await git.run(["read-tree", "--reset", "-u", saved], {
      gitDir: worktreeGitDir(workspace),
      workTree: workspace.folder,
      ...(options.confine === undefined
        ? {}
        : {
            confined: { confine: options.confine, writable: [workspace.folder, worktreeGitDir(workspace)] },
          }),
    });
    await resetWorktree(workspace, head, options.signal);
  }
  await copyFiles(workspace.copied, workspace.repository ?? workspace.project, workspace.folder);
  return warnings;
}
