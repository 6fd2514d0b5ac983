// Lists workspaces with their size, their branch and what would be lost without them.

import { constants, existsSync } from "node:fs";
import { copyFile, lstat } from "node:fs/promises";
import { join } from "node:path";

import { sessionCommits } from "./end-session.ts";
import { readRef } from "./find-repository.ts";
import { folderSize } from "./folder-size.ts";
import { openGit, type OwnGit } from "./own-git.ts";
import { readRecords, type ReadRecords, type WorkspaceStore } from "./record-store.ts";
import { worktreeGitDir } from "./remove-files.ts";
import { tipRef } from "./save-workspace.ts";
import { withScratch } from "./scratch-store.ts";
import { privateGit } from "./session-git.ts";
import { refuseManyFiles } from "./work-size.ts";
import { branchRef, sessionFolder, type Workspace } from "./workspace-record.ts";

/**
 * `uncommitted`: files differ from the last commit. `unmerged`: commits that no branch of the person has. `merged`: all commits
 * are in a branch of the person. `clean`: no work at all. `missing`: the folder is gone although nobody removed it.
 */
export type WorkspaceState = "clean" | "uncommitted" | "unmerged" | "merged" | "missing" | "removed";

export interface ListedWorkspace {
  readonly workspace: Workspace;
  readonly state: WorkspaceState;
  readonly bytes: number;
  /** At most a hundred. */
  readonly uncommitted: readonly string[];
  /** Branches of the person that have all commits of the workspace. */
  readonly merged_into: readonly string[];
  /** What kept git from telling; the state is then the one that is kept most carefully. */
  readonly problem: string | undefined;
}

export interface WorkspaceList extends Pick<ReadRecords, "unreadable" | "unknown"> {
  readonly workspaces: readonly ListedWorkspace[];
}

const mostFiles = 100;

export async function listWorkspaces(store: WorkspaceStore, signal?: AbortSignal): Promise<WorkspaceList> {
  const { workspaces, unreadable, unknown } = readRecords(store);
  const listed: ListedWorkspace[] = [];
  for (const workspace of workspaces) listed.push(await inspectWorkspace(store, workspace, signal));
  return { workspaces: listed, unreadable, unknown };
}

/** What this finds is for a person to read. Removing a workspace looks again, and more closely. */
export async function inspectWorkspace(
  store: WorkspaceStore,
  workspace: Workspace,
  signal?: AbortSignal,
): Promise<ListedWorkspace> {
  const plain = { workspace, bytes: 0, uncommitted: [], merged_into: [], problem: undefined };
  if (workspace.mode === "shared") return { ...plain, state: workspace.state === "removed" ? "removed" : "clean" };
  const bytes = (await folderSize(workspace.folder, signal)) + (await folderSize(sessionFolder(workspace), signal));
  if (workspace.state === "removed") return { ...plain, bytes, state: "removed" };
  if (!existsSync(workspace.folder)) return { ...plain, bytes, state: "missing" };
  try {
    const git = await openGit(workspace.git_dir ?? "", signal);
    const facts = await factsOf(store, workspace, { git, signal });
    return { ...plain, ...facts, bytes, state: stateOf(facts) };
  } catch (thrown) {
    signal?.throwIfAborted();
    const problem = thrown instanceof Error ? thrown.message : String(thrown);
    return { ...plain, bytes, problem, state: "uncommitted" };
  }
}

interface Facts {
  readonly uncommitted: readonly string[];
  readonly hasCommits: boolean;
  readonly merged_into: readonly string[];
}

function stateOf({ uncommitted, hasCommits, merged_into }: Facts): WorkspaceState {
  if (uncommitted.length > 0) return "uncommitted";
  if (!hasCommits) return "clean";
  return merged_into.length > 0 ? "merged" : "unmerged";
}

interface Looking {
  readonly git: OwnGit;
  readonly signal: AbortSignal | undefined;
}

async function factsOf(store: WorkspaceStore, workspace: Workspace, { git, signal }: Looking): Promise<Facts> {
  const real = (await readRef(git, tipRef(workspace), signal)) ?? workspace.base ?? "";
  const { head = real } = workspace.mode === "worktree" ? await sessionCommits(workspace) : {};
  const isImported = head === real;
  const uncommitted = await changedFiles(workspace, { tip: head, isImported }, { git, signal });
  const hasCommits = head !== workspace.base;
  const merged_into =
    hasCommits && isImported && workspace.mode === "worktree"
      ? await mergedInto(store, workspace, { git, signal })
      : [];
  return { uncommitted, hasCommits, merged_into };
}

/** Fast, because it believes the times in the worktree's own index; a copy of it, so that nothing a session wrote is opened by git for writing. */
async function changedFiles(
  workspace: Workspace,
  { tip, isImported }: { readonly tip: string; readonly isImported: boolean },
  { git, signal }: Looking,
): Promise<string[]> {
  return withScratch(sessionFolder(workspace), git.gitDir, async (scratch) => {
    const { index } = scratch;
    const own = join(worktreeGitDir(workspace), "index");
    const alternates = [...scratch.objects.alternates, privateGit(workspace).objects].filter((path) =>
      existsSync(path),
    );
    const options = {
      workTree: workspace.folder,
      index,
      objects: { folder: scratch.objects.folder, alternates },
      signal,
      maxBytes: 1024 * 1024,
      overflow: "cut",
    } as const;
    // What a session has committed was not checked yet, unless it was brought over.
    if (!isImported) await refuseManyFiles(git, { commit: tip, objects: options.objects, signal });
    if (workspace.mode === "worktree" && (await lstat(own).catch(() => undefined))?.isFile() === true) {
      await copyFile(own, index, constants.COPYFILE_EXCL);
    } else await git.run(["read-tree", tip], options);
    const exclude = workspace.copied.map((path) => `--exclude=/${path}`);
    const [changed, staged] = [
      await git.list(["ls-files", "-z", "-o", "-m", "-d", "--exclude-standard", ...exclude], options),
      await git.list(["diff-index", "--cached", "--name-only", "-z", "--ignore-submodules=all", tip], options),
    ];
    return [...new Set([...staged, ...changed])].slice(0, mostFiles);
  });
}

/** Branches of the person, here or of a remote, that contain the tip. The branches of workspaces do not count. */
export async function mergedInto(
  store: WorkspaceStore,
  workspace: Workspace,
  { git, signal }: Looking,
): Promise<string[]> {
  const tip = await readRef(git, tipRef(workspace), signal);
  if (tip === undefined) return [];
  const own = new Set(
    readRecords(store).workspaces.flatMap(({ branch, new_branch }) =>
      branch !== null && new_branch ? [branchRef(branch)] : [],
    ),
  );
  own.add(tipRef(workspace));
  const names = await git.text(
    ["for-each-ref", `--contains=${tip}`, "--format=%(refname)", "refs/heads", "refs/remotes"],
    { signal },
  );
  return names
    .split("\n")
    .filter((name) => name !== "" && !own.has(name))
    .map((name) => name.replace(/^refs\/(?:heads|remotes)\//, ""));
}
