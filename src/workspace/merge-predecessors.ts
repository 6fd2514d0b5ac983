// Makes the commit that a task begins with from the work of the tasks that it builds on.

import { TuttiError } from "../protocol/error.ts";
import { findRepository, headCommit, readRef, resolveCommit } from "./find-repository.ts";
import type { Signing } from "./make-commit.ts";
import { mergeInOrder, type MergeOutcome } from "./merge-commits.ts";
import { openGit } from "./own-git.ts";
import { tipRef } from "./save-workspace.ts";
import type { Workspace } from "./workspace-record.ts";

/** The committed work of an attempt. */
export interface FinishedWork {
  readonly task: string;
  readonly attempt: number;
  readonly branch: string;
  readonly commit: string;
}

/** Throws when the workspace has no branch. Its folder may be gone: only the commits count. */
export async function finishedWork(workspace: Workspace, signal?: AbortSignal): Promise<FinishedWork> {
  const { task, attempt, branch, mode, git_dir, head, base } = workspace;
  if (mode !== "worktree" || branch === null || git_dir === null) {
    throw new TuttiError("conflict", `${task} has no branch to build on: it worked in the mode \`${mode}\``);
  }
  const commit = (await readRef(await openGit(git_dir, signal), tipRef(workspace), signal)) ?? head ?? base;
  if (commit === null) throw new TuttiError("conflict", `the branch ${branch} of ${task} is gone`);
  return { task, attempt, branch, commit };
}

export interface Predecessors {
  /** The person's folder. */
  readonly project: string;
  readonly works: readonly FinishedWork[];
  /** HEAD's commit when absent. */
  readonly onto?: string | undefined;
  readonly signing?: Signing | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Merges in the order of the list. Nothing but commits is made: no ref and no file changes. */
export async function mergePredecessors({
  project,
  works,
  onto,
  signing,
  signal,
}: Predecessors): Promise<MergeOutcome> {
  const repository = await findRepository(project, signal);
  if (repository === undefined) {
    throw new TuttiError("refused", `${project} is not in a git repository, so a task there has nothing to build on`);
  }
  // Throws when the work was done in another repository.
  for (const { commit } of works) await resolveCommit(repository.git, commit, signal);
  const branches = works.map(({ branch, commit }) => ({ name: branch, commit }));
  const base = onto ?? (await headCommit(repository, signal));
  return mergeInOrder(repository.git, { base, branches, signing, signal });
}
