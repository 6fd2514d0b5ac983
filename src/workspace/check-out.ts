// Makes the worktree of a workspace and fills it with the files of its branch; filters run only confined.

import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { TuttiError } from "../protocol/error.ts";
import { lfs } from "./git-settings.ts";
import type { Confine, OwnGit } from "./own-git.ts";
import type { WorkspaceStore } from "./record-store.ts";
import { gitFileOf, isOwnWorktree, worktreeGitDir } from "./remove-files.ts";
import { withScratch } from "./scratch-store.ts";
import { unconfinedFilter } from "./snapshot-tree.ts";
import { branchRef, sessionFolder, type Workspace } from "./workspace-record.ts";

export interface CheckOut {
  readonly git: OwnGit;
  readonly confine?: Confine | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The branch must exist and be checked out nowhere else. Returns what a person should know, each a sentence. */
export async function checkOutWorktree(
  store: WorkspaceStore,
  workspace: Workspace,
  { git, confine, signal }: CheckOut,
): Promise<string[]> {
  const { folder, branch } = workspace;
  const gitDir = worktreeGitDir(workspace);
  if (branch === null) throw new TuttiError("internal", `the workspace ${workspace.id} has no branch to check out`);
  if (existsSync(folder)) throw new TuttiError("conflict", `${folder} exists already; move it away`);
  if (existsSync(gitDir)) {
    if (!isOwnWorktree(workspace)) throw new TuttiError("conflict", `${gitDir} belongs to another worktree`);
    await rm(gitDir, { recursive: true });
  }
  await addWorktree(git, { folder, branch, signal });
  if ((await gitFileOf(folder)) !== `gitdir: ${gitDir}`) {
    throw new TuttiError("internal", `git did not make the worktree ${folder} as expected; nothing was checked out`);
  }
  // A setting of the person's checkout, such as a sparse one, is not one of the workspace. The file is always there, so that
  // a sandbox can keep a session from writing one.
  await writeFile(join(gitDir, "config.worktree"), "");
  await rm(join(gitDir, "info"), { recursive: true, force: true });
  await store.checkpoint?.("worktree made");
  const { warnings, filtered } = await lookForFilters(workspace, { git, confine, signal });
  await git.run(["read-tree", "--reset", "-u", branchRef(branch)], {
    gitDir,
    workTree: folder,
    signal,
    ...(filtered && confine !== undefined ? { confined: { confine, writable: [folder, gitDir] } } : {}),
  });
  return [...warnings, ...(await submoduleWarning(git, branch, signal))];
}

async function addWorktree(
  git: OwnGit,
  {
    folder,
    branch,
    signal,
  }: { readonly folder: string; readonly branch: string; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  const { code, stderr } = await git.run(["worktree", "add", "--no-checkout", folder, branch], {
    expected: [128],
    signal,
  });
  if (code === 0) return;
  const [, elsewhere] = /already (?:checked out|used by worktree) at '(.*)'/.exec(stderr) ?? [];
  if (elsewhere !== undefined) {
    throw new TuttiError(
      "conflict",
      `the branch ${branch} is checked out at ${elsewhere}; check out another one there, or let the work have a new branch`,
    );
  }
  throw new TuttiError("io", `git could not make a worktree at ${folder}: ${stderr.trim().split("\n").at(-1) ?? ""}`);
}

async function lookForFilters(
  workspace: Workspace,
  { git, confine, signal }: CheckOut,
): Promise<{ readonly warnings: string[]; readonly filtered: boolean }> {
  const { filters } = git.settings;
  if (filters.length === 0) return { warnings: [], filtered: false };
  const { folder, branch } = workspace;
  return withScratch(sessionFolder(workspace), git.gitDir, async ({ index }) => {
    await git.run(["read-tree", branchRef(branch ?? "")], { index, signal });
    const filesOf = (filter: string): Promise<string[]> =>
      git.list(["ls-files", "-z", "--", `:(attr:filter=${filter})`], { workTree: folder, index, signal });
    const warnings: string[] = [];
    let filtered = false;
    for (const filter of filters.filter((name) => /^[A-Za-z0-9._-]+$/.test(name))) {
      const [first, ...others] = await filesOf(filter);
      if (first === undefined) continue;
      if (filter === lfs) {
        warnings.push(
          `${others.length + 1} files are kept in Git LFS, such as ${first}; in the workspace they are the texts that point to their contents.`,
        );
      } else if (confine === undefined) throw unconfinedFilter(filter, first);
      else filtered = true;
    }
    return { warnings, filtered };
  });
}

async function submoduleWarning(git: OwnGit, branch: string, signal?: AbortSignal): Promise<string[]> {
  const blob = `${branchRef(branch)}:.gitmodules`;
  if ((await git.run(["cat-file", "-e", blob], { expected: [1, 128], signal })).code !== 0) return [];
  const { stdout } = await git.run(["config", "--blob", blob, "--get-regexp", String.raw`^submodule\..*\.path$`], {
    expected: [1, 128],
    signal,
  });
  const paths = stdout
    .toString("utf8")
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [line.slice(line.indexOf(" ") + 1)]));
  if (paths.length === 0) return [];
  return [`The submodules ${paths.slice(0, 10).join(", ")} are empty folders in the workspace.`];
}
