// Builds the integration branch of a tree of tasks: their work, merged in order, in a worktree of its own.

import { join } from "node:path";

import { TuttiError } from "../protocol/error.ts";
import { refuseBadName } from "./create-workspace.ts";
import { headCommit, noCommit, readRef, type Repository, resolveCommit } from "./find-repository.ts";
import type { Signing } from "./make-commit.ts";
import { moveRef, requireRepository } from "./merge-branch.ts";
import { mergeInOrder, type MergeConflict } from "./merge-commits.ts";
import { finishedWork, type FinishedWork } from "./merge-predecessors.ts";
import type { Confine } from "./own-git.ts";
import { makeRoot, readRecord, type WorkspaceStore, writeRecord } from "./record-store.ts";
import { removeWorkspace, restoreWorkspace } from "./remove-workspace.ts";
import { branchName, branchRef, defaultBranchPattern, integrationId, type Workspace } from "./workspace-record.ts";

export interface WorkIntegration {
  /** A folder of the repository, and its git folder as the workspaces noted it. */
  readonly repository: string;
  readonly git_dir: string;
  /** The task that the branch is named after, usually the root of the tree. */
  readonly task: string;
  /** In the order in which they are merged. A conflict names the branch, or else the task and the attempt. */
  readonly works: readonly (Omit<FinishedWork, "branch"> & { readonly branch?: string | undefined })[];
  /** Where a new branch begins; HEAD's commit when absent. */
  readonly base?: string | undefined;
  /** With `{task}`, `{attempt}` and `{agent}`; the last two become the word `integration`. */
  readonly branchPattern?: string | undefined;
  readonly confine?: Confine | undefined;
  readonly signing?: Signing | undefined;
  readonly now: number;
  readonly signal?: AbortSignal | undefined;
}

export interface Integrated {
  readonly state: "integrated";
  readonly workspace: Workspace;
  readonly branch: string;
  readonly base: string;
  readonly commit: string;
  readonly tree: string;
  /** What a person should know, each a sentence. */
  readonly warnings: readonly string[];
}

/**
 * All of them or none; a conflict changes nothing. A branch that was built before gets what is new, also on top of commits
 * that were made on it since. Refused when its worktree has uncommitted work. Two calls for one repository must not overlap.
 */
export async function integrateWorks(
  store: WorkspaceStore,
  request: WorkIntegration,
): Promise<Integrated | MergeConflict> {
  const { confine, signal, works } = request;
  const repository = await requireRepository(request.repository, signal);
  const { git } = repository;
  if (git.gitDir !== request.git_dir) {
    throw new TuttiError("refused", `${request.repository} belongs to another repository than the work`);
  }
  const before = readRecord(store, integrationId(request.task)) ?? (await newRecord(store, repository, request));
  const branch = before.branch ?? "";
  const start = (await finishedWork(before, signal)).commit;
  const branches = works.map((work) => ({
    name: work.branch ?? `${work.task}, attempt ${work.attempt}`,
    commit: work.commit,
  }));
  const outcome = await mergeInOrder(git, { base: start, branches, signing: request.signing, signal });
  if (outcome.state === "conflict") return outcome;
  const { commit } = outcome;
  // Its folder is made again at the new commit. A crash leaves a workspace that is listed as removed and can be restored.
  if (before.state === "ready" && commit !== start) {
    await removeWorkspace(store, before.id, { uncommitted: "refuse", confine, signal });
  }
  const ref = branchRef(branch);
  const named = await readRef(git, ref, signal);
  if (named !== commit) {
    if (named === undefined && readRecord(store, before.id) === undefined) writeRecord(store, before);
    await store.checkpoint?.("integration recorded");
    await moveRef(git, { ref, old: named ?? noCommit(commit), next: commit, note: "tutti: integration" });
  }
  const { workspace, warnings } = await restoreWorkspace(store, before.id, { confine, signal });
  const tree = await git.text(["rev-parse", "--verify", `${commit}^{tree}`], { signal });
  return { state: "integrated", workspace, branch, base: before.base ?? start, commit, tree, warnings };
}

/** A workspace that is still to be made, as if it had been removed. It is written only when everything fits together. */
async function newRecord(
  store: WorkspaceStore,
  repository: Repository,
  { task, base, branchPattern = defaultBranchPattern, now, signal }: WorkIntegration,
): Promise<Workspace> {
  const { git, top } = repository;
  makeRoot(store);
  const branch = branchName(branchPattern, { task, attempt: "integration", agent: "integration" });
  await refuseBadName(git, branch);
  if ((await readRef(git, branchRef(branch), signal)) !== undefined) {
    throw new TuttiError("conflict", `the branch ${branch} exists already and is not Tutti's; rename or delete it`);
  }
  const start = base === undefined ? await headCommit(repository, signal) : await resolveCommit(git, base, signal);
  const id = integrationId(task);
  return {
    id,
    ...(store.machine === undefined ? {} : { machine: store.machine }),
    kind: "integration",
    task,
    attempt: 1,
    mode: "worktree",
    project: top,
    repository: top,
    git_dir: git.gitDir,
    folder: join(store.root, id),
    branch,
    new_branch: true,
    base: start,
    head: start,
    copied: [],
    approved: [],
    created_at: now,
    state: "removed",
  };
}
