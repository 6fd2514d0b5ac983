// Makes the workspace of an attempt: a worktree with a branch of its own, a copy, or the person's folder itself.

import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { isAbsolute, join, relative } from "node:path";

import { TuttiError } from "../protocol/error.ts";
import { checkOutWorktree } from "./check-out.ts";
import { type CopiedFiles, copyFiles } from "./copy-files.ts";
import { fillCopy } from "./folder-copy.ts";
import { findRepository, headCommit, noCommit, readRef, type Repository, resolveCommit } from "./find-repository.ts";
import { importObjects } from "./import-objects.ts";
import { makeCommit } from "./make-commit.ts";
import { mergeInOrder, type MergeConflict } from "./merge-commits.ts";
import { markOrigin } from "./other-machine.ts";
import type { Confine, OwnGit } from "./own-git.ts";
import { makeRoot, ownFolders, readRecord, type WorkspaceStore, writeRecord } from "./record-store.ts";
import { undoCreating } from "./recover-workspaces.ts";
import { withScratch } from "./scratch-store.ts";
import { snapshotTree } from "./snapshot-tree.ts";
import {
  branchName,
  branchRef,
  defaultBranchPattern,
  sessionFolder,
  type Workspace,
  workspaceId,
  type WorkspaceMode,
} from "./workspace-record.ts";

export type WorkspaceBase =
  | { readonly kind: "head" }
  /** Such as the last commit of an earlier attempt. */
  | { readonly kind: "commit"; readonly commit: string }
  /** The branches of predecessors, merged in this order onto HEAD's commit. */
  | { readonly kind: "branches"; readonly branches: readonly string[] };

export interface NewWorkspace {
  readonly task: string;
  readonly attempt: number;
  readonly agent?: string | undefined;
  /** The person's folder. */
  readonly project: string;
  /** `worktree` in a git repository and `copy` elsewhere, when absent. */
  readonly mode?: WorkspaceMode | undefined;
  readonly base?: WorkspaceBase | undefined;
  /** Begins with the uncommitted changes of the checkout. Only with the base `head`. */
  readonly withChanges?: boolean | undefined;
  /** With `{task}`, `{attempt}` and `{agent}`. */
  readonly branchPattern?: string | undefined;
  /** A branch that exists already and is checked out nowhere; the work goes on there. */
  readonly existingBranch?: string | undefined;
  /** Files and folders to copy from the project although git does not track them. */
  readonly copy?: readonly string[] | undefined;
  readonly confine?: Confine | undefined;
  readonly now: number;
  readonly signal?: AbortSignal | undefined;
}

export type CreateOutcome =
  | {
      readonly state: "ready";
      readonly workspace: Workspace;
      /** Uncommitted files of the person's checkout, at most a thousand. */
      readonly dirty: readonly string[];
      readonly copied: CopiedFiles;
      /** What a person should know, each a sentence. */
      readonly warnings: readonly string[];
    }
  /** The branches of predecessors do not fit together. Nothing was made. */
  | MergeConflict;

const mostDirty = 1_000;
const nothingCopied: CopiedFiles = { copied: [], skipped: [] };

/** Finds the workspace of this attempt if it was made before. */
export async function createWorkspace(store: WorkspaceStore, wanted: NewWorkspace): Promise<CreateOutcome> {
  const id = workspaceId(wanted.task, wanted.attempt);
  const project = await realProject(wanted.project);
  const before = readRecord(store, id);
  if (before?.state === "ready") {
    return { state: "ready", workspace: before, dirty: [], copied: nothingCopied, warnings: [] };
  }
  if (before !== undefined) {
    throw new TuttiError(
      "conflict",
      `the workspace ${id} is ${before.state}; ${before.state === "removed" ? "restore it" : "recover the workspaces first"}`,
    );
  }
  const repository = wanted.mode === "copy" ? undefined : await findRepository(project, wanted.signal);
  const mode = wanted.mode ?? (repository === undefined ? "copy" : "worktree");
  if (mode === "worktree" && repository === undefined) {
    throw new TuttiError("refused", `${project} is not in a git repository; use the mode \`copy\``);
  }
  if (mode !== "shared") makeRoot(store);
  const plan = { store, wanted, id, project };
  if (mode === "copy") return createCopy(plan);
  if (mode === "shared" || repository === undefined) return createShared(plan, repository);
  return createWorktree(plan, repository);
}

interface Plan {
  readonly store: WorkspaceStore;
  readonly wanted: NewWorkspace;
  readonly id: string;
  readonly project: string;
}

function newRecord({ store, wanted, id, project }: Plan, mode: WorkspaceMode): Workspace {
  return {
    id,
    ...(store.machine === undefined ? {} : { machine: store.machine }),
    kind: "attempt",
    task: wanted.task,
    attempt: wanted.attempt,
    mode,
    project,
    repository: null,
    git_dir: null,
    folder: mode === "shared" ? project : join(store.root, id),
    branch: null,
    new_branch: false,
    base: null,
    head: null,
    copied: [],
    approved: [],
    created_at: wanted.now,
    state: "creating",
  };
}

async function createShared(plan: Plan, repository: Repository | undefined): Promise<CreateOutcome> {
  const { store, wanted } = plan;
  const base = repository === undefined ? null : await headCommit(repository, wanted.signal).catch(() => null);
  const workspace = writeRecord(store, {
    ...newRecord(plan, "shared"),
    repository: repository?.top ?? null,
    git_dir: repository?.git.gitDir ?? null,
    base,
    state: "ready",
  });
  const dirty = repository === undefined ? [] : await dirtyFiles(repository, wanted.signal);
  return { state: "ready", workspace, dirty, copied: nothingCopied, warnings: [] };
}

async function createCopy(plan: Plan): Promise<CreateOutcome> {
  const { store, wanted, project } = plan;
  if (wanted.existingBranch !== undefined || (wanted.base ?? { kind: "head" }).kind !== "head") {
    throw new TuttiError("invalid_input", "a copy has no branches: it begins with the files as they are");
  }
  const record = newRecord(plan, "copy");
  const git_dir = join(sessionFolder(record), "copy.git");
  return making(store, writeRecord(store, { ...record, git_dir }), async (workspace) => {
    const { base, warnings } = await fillCopy(store, workspace, wanted.signal);
    const copied = await copyFiles(wanted.copy ?? [], project, workspace.folder);
    return {
      state: "ready",
      workspace: writeRecord(store, { ...workspace, base, copied: [...copied.copied], state: "ready" }),
      dirty: [],
      copied,
      warnings,
    };
  });
}

async function createWorktree(plan: Plan, repository: Repository): Promise<CreateOutcome> {
  const { store, wanted, project } = plan;
  const { git, top } = repository;
  const { signal } = wanted;
  const [dirty, base] = await Promise.all([dirtyFiles(repository, signal), baseOf(repository, wanted)]);
  if (typeof base !== "string") return base;
  const branch = wanted.existingBranch ?? branchName(wanted.branchPattern ?? defaultBranchPattern, wanted);
  await refuseBadName(git, branch);
  const tip = await readRef(git, branchRef(branch), signal);
  const record: Workspace = {
    ...newRecord(plan, "worktree"),
    repository: top,
    git_dir: git.gitDir,
    branch,
    new_branch: wanted.existingBranch === undefined,
    base: wanted.existingBranch === undefined ? base : await resolveCommit(git, branchRef(branch), signal),
  };
  if (tip !== undefined && record.new_branch) {
    throw new TuttiError(
      "conflict",
      `the branch ${branch} exists already; delete it, choose another pattern, or ask for this branch by name`,
    );
  }
  return making(store, writeRecord(store, record), async (workspace) => {
    await store.checkpoint?.("recorded");
    const begin =
      wanted.withChanges === true && dirty.length > 0
        ? await changesCommit(store, workspace, { repository, wanted })
        : base;
    const started = record.new_branch ? writeRecord(store, { ...workspace, base: begin }) : workspace;
    if (record.new_branch) await makeBranch(store, started, { git, signal });
    await store.checkpoint?.("branch made");
    const warnings = await checkOutWorktree(store, started, { git, confine: wanted.confine, signal });
    await store.checkpoint?.("checked out");
    const copied = await copyFiles(copyList(wanted, relative(top, project)), top, started.folder);
    return {
      state: "ready",
      workspace: writeRecord(store, { ...started, copied: [...copied.copied], state: "ready" }),
      dirty,
      copied,
      warnings,
    };
  });
}

async function makeBranch(
  store: WorkspaceStore,
  workspace: Workspace,
  { git, signal }: { readonly git: OwnGit; readonly signal: AbortSignal | undefined },
): Promise<void> {
  const { branch, base } = workspace;
  try {
    await git.run(["update-ref", branchRef(branch ?? ""), base ?? "", noCommit(base ?? "")], { signal });
  } catch (thrown) {
    // Another workspace may have made a branch of this name just now. It is not ours to delete.
    writeRecord(store, { ...workspace, new_branch: false });
    throw thrown;
  }
}

/** Undoes what was made when something fails on the way. */
async function making(
  store: WorkspaceStore,
  workspace: Workspace,
  make: (workspace: Workspace) => Promise<CreateOutcome>,
): Promise<CreateOutcome> {
  try {
    const made = await make(workspace);
    if (made.state === "ready") markOrigin(made.workspace);
    return made;
  } catch (thrown) {
    // If this fails, too, the record stays, and the next recovery undoes the rest.
    await undoCreating(store, readRecord(store, workspace.id) ?? workspace).catch(() => undefined);
    throw thrown;
  }
}

async function baseOf(repository: Repository, wanted: NewWorkspace): Promise<string | MergeConflict> {
  const { git } = repository;
  const { base = { kind: "head" }, withChanges = false, signal } = wanted;
  if (withChanges && (base.kind !== "head" || wanted.existingBranch !== undefined)) {
    throw new TuttiError("invalid_input", "uncommitted changes can be included only when the work begins at HEAD");
  }
  switch (base.kind) {
    case "head":
      return headCommit(repository, signal);
    case "commit":
      return resolveCommit(git, base.commit, signal);
    case "branches": {
      const branches = await Promise.all(
        base.branches.map(async (name) => ({ name, commit: await resolveCommit(git, branchRef(name), signal) })),
      );
      const outcome = await mergeInOrder(git, { base: await headCommit(repository, signal), branches, signal });
      return outcome.state === "conflict" ? outcome : outcome.commit;
    }
  }
}

/** Like a stash, but made with an index of Tutti's own: the person's index and files stay as they are. */
async function changesCommit(
  store: WorkspaceStore,
  workspace: Workspace,
  { repository, wanted }: { readonly repository: Repository; readonly wanted: NewWorkspace },
): Promise<string> {
  const { git, top } = repository;
  const { confine, signal } = wanted;
  const head = await headCommit(repository, signal);
  const exclude = [...copyList(wanted, relative(top, workspace.project)), ...ownFolders(store, top)];
  return withScratch(sessionFolder(workspace), git.gitDir, async (scratch) => {
    const { tree } = await snapshotTree({
      git,
      workTree: top,
      from: head,
      scratch,
      exclude,
      confine: usesFilters(git) ? confine : undefined,
      signal,
    });
    const message = "Uncommitted changes of the checkout";
    const commit = await makeCommit(git, { tree, parents: [head], message, objects: scratch.objects, signal });
    const packFile = join(scratch.folder, "import.pack");
    await importObjects({ git, from: scratch.objects, commits: [commit], known: [head], packFile, signal });
    return commit;
  });
}

/** The list is relative to the project, which may be a folder inside the repository. */
function copyList({ copy = [] }: NewWorkspace, prefix: string): string[] {
  return copy.map((path) => (isAbsolute(path) ? path : join(prefix, path)));
}

export function usesFilters(git: OwnGit): boolean {
  return git.settings.filters.some((name) => name !== "lfs");
}

/** Changed, added and untracked files of the person's checkout. Git does not even refresh its index for this. */
async function dirtyFiles({ git, top, checkoutGitDir }: Repository, signal?: AbortSignal): Promise<string[]> {
  const { stdout, isCut } = await git.run(
    ["status", "--porcelain=v1", "-z", "--untracked-files=normal", "--ignore-submodules=all", "--no-renames"],
    { gitDir: checkoutGitDir, workTree: top, maxBytes: 1024 * 1024, overflow: "cut", signal },
  );
  const entries = stdout.toString("utf8").split("\0");
  return (isCut ? entries.slice(0, -1) : entries)
    .filter((entry) => entry !== "")
    .slice(0, mostDirty)
    .map((entry) => entry.slice(3));
}

export async function refuseBadName(git: OwnGit, branch: string): Promise<void> {
  const { code, stdout } = await git.run(["check-ref-format", "--branch", branch], { expected: [1, 128] });
  // Git resolves names such as `@{-1}` here; only a name that stands for itself is one.
  if (code === 0 && stdout.toString("utf8").trimEnd() === branch) return;
  throw new TuttiError("invalid_input", `${JSON.stringify(branch)} is not a name that a branch can have`);
}

async function realProject(project: string): Promise<string> {
  if (!existsSync(project)) throw new TuttiError("not_found", `the folder ${project} does not exist`);
  return realpath(project);
}
