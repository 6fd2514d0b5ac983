// Merges a branch into another one of the person's choice; a checkout is touched only when it is clean and the person agreed.

import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { TuttiError } from "../protocol/error.ts";
import { findRepository, readRef, type Repository, resolveCommit } from "./find-repository.ts";
import type { Signing } from "./make-commit.ts";
import { mergeCommits, type MergeOutcome } from "./merge-commits.ts";
import { type OwnGit } from "./own-git.ts";
import { withScratch } from "./scratch-store.ts";
import { branchRef } from "./workspace-record.ts";

export interface MergeInto {
  /** A folder of the repository. */
  readonly project: string;
  /** A branch, or the full id of a commit. */
  readonly from: string;
  readonly into: string;
  readonly message?: string | undefined;
  readonly fastForward?: boolean | undefined;
  /** Whether the person agreed that a checkout of `into` may be changed. */
  readonly allowCheckedOut?: boolean | undefined;
  readonly signing?: Signing | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A conflict changes nothing. */
export async function mergeBranch(request: MergeInto): Promise<MergeOutcome> {
  const { project, from, into, message = `Merge ${from} into ${into}`, signal } = request;
  const repository = await requireRepository(project, signal);
  const { git } = repository;
  const ours = await resolveCommit(git, branchRef(into), signal);
  const theirs = (await readRef(git, branchRef(from), signal)) ?? (await resolveCommit(git, from, signal));
  const checkout = (await checkoutsOf(git, signal)).find(({ branch }) => branch === branchRef(into));
  if (checkout !== undefined) await refuseUnready(checkout, request);
  const outcome = await mergeCommits(git, {
    ours,
    theirs,
    branch: from,
    message,
    fastForward: request.fastForward ?? true,
    signing: request.signing,
    signal,
  });
  if (outcome.state === "conflict" || outcome.how === "up_to_date") return outcome;
  const step = { ref: branchRef(into), old: ours, next: outcome.commit, note: `tutti: ${message}` };
  if (checkout === undefined) await moveRef(git, step);
  else await moveCheckout(await requireRepository(checkout.folder, signal), step);
  return outcome;
}

export async function requireRepository(project: string, signal: AbortSignal | undefined): Promise<Repository> {
  const repository = await findRepository(project, signal);
  if (repository !== undefined) return repository;
  throw new TuttiError("refused", `${project} is not in a git repository, so there is nothing to merge into`);
}

interface Checkout {
  readonly folder: string;
  readonly branch: string | undefined;
}

async function checkoutsOf(git: OwnGit, signal?: AbortSignal): Promise<Checkout[]> {
  const text = await git.text(["worktree", "list", "--porcelain", "-z"], { signal });
  return text
    .split("\0\0")
    .filter((entry) => entry !== "")
    .map((entry) => {
      const lines = entry.split("\0");
      const value = (name: string): string | undefined =>
        lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1);
      return { folder: value("worktree") ?? "", branch: value("branch") };
    });
}

/** Signs in a git folder that the person is in the middle of something. */
const unfinished = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "index.lock"];

async function refuseUnready({ folder }: Checkout, { into, allowCheckedOut, signal }: MergeInto): Promise<void> {
  const refuse = (why: string, details: Readonly<Record<string, unknown>> = {}): TuttiError =>
    new TuttiError("refused", `nothing was merged: the branch ${into} is checked out at ${folder}, ${why}`, {
      details,
    });
  if (allowCheckedOut !== true) {
    const how =
      "whose files would change; agree with --checked-out (`allow_checked_out: true` in the API), or name a branch that is not checked out";
    throw refuse(how, { checked_out: folder });
  }
  const { git, top, checkoutGitDir } = await requireRepository(folder, signal);
  const found = unfinished.find((name) => existsSync(join(checkoutGitDir, name)));
  if (found !== undefined) throw refuse(`where git is in the middle of something (${found}); finish that first`);
  if (existsSync(join(checkoutGitDir, "info", "sparse-checkout"))) {
    throw refuse("which is a sparse checkout; merge there with git itself");
  }
  const changed = await git.list(
    ["status", "--porcelain=v1", "-z", "--untracked-files=no", "--ignore-submodules=all", "--no-renames"],
    { gitDir: checkoutGitDir, workTree: top, maxBytes: 1024 * 1024, overflow: "cut", signal },
  );
  if (changed.length > 0) {
    const files = changed.slice(0, 5).map((entry) => entry.slice(3));
    throw refuse(`which has uncommitted changes (${files.join(", ")}); commit or stash them first`);
  }
}

interface RefMove {
  readonly ref: string;
  readonly old: string;
  readonly next: string;
  readonly note: string;
}

export async function moveRef(git: OwnGit, { ref, old, next, note }: RefMove, gitDir = git.gitDir): Promise<void> {
  const { code, stderr } = await git.run(["update-ref", "-m", note, ref, next, old], { gitDir, expected: [128] });
  if (code === 0) return;
  const told = stderr.trim().split("\n").at(-1) ?? "";
  throw new TuttiError("busy", `${ref} was not moved, because it changed meanwhile; try again (git: ${told})`);
}

/** Git looks at all files before it changes the first one, and refuses when an untracked file would be overwritten. */
async function moveCheckout({ git, top, checkoutGitDir }: Repository, move: RefMove): Promise<void> {
  const { old, next } = move;
  await refuseFiltered(git, old, next);
  const options = { gitDir: checkoutGitDir, workTree: top };
  await git.run(["update-index", "-q", "--refresh"], { ...options, expected: [1] });
  const { code, stderr } = await git.run(["read-tree", "-m", "-u", old, next], { ...options, expected: [128] });
  if (code !== 0) {
    const why =
      stderr
        .trim()
        .split("\n")[0]
        ?.replace(/^(?:error|fatal): /, "") ?? "";
    throw new TuttiError("refused", `nothing was merged into the checkout ${top}: ${why}`);
  }
  try {
    await moveRef(git, move, checkoutGitDir);
  } catch (thrown) {
    await git.run(["read-tree", "-m", "-u", next, old], options);
    throw thrown;
  }
}

/** By the attributes of the commit that is to be checked out. */
async function refuseFiltered(git: OwnGit, old: string, next: string): Promise<void> {
  if (git.settings.filters.length === 0) return;
  const paths = await git.list(["diff-tree", "-r", "-z", "--name-only", "--no-renames", old, next]);
  const told = await withScratch(tmpdir(), git.gitDir, async ({ index }) => {
    await git.run(["read-tree", next], { index });
    const input = paths.map((path) => `${path}\0`).join("");
    return git.list(["check-attr", "-z", "--cached", "--stdin", "filter"], { index, input });
  });
  for (let at = 0; at + 2 < told.length; at += 3) {
    const [path = "", , filter = ""] = told.slice(at, at + 3);
    if (git.settings.filters.includes(filter)) {
      throw new TuttiError(
        "refused",
        `nothing was merged: ${path} goes through the git filter "${filter}", which Tutti does not run in your checkout; merge there with git itself`,
      );
    }
  }
}
