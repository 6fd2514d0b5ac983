// Merges commits without any checkout: the outcome is a commit, or the list of files that conflict.

import { TuttiError } from "../protocol/error.ts";
import { makeCommit, type Signing } from "./make-commit.ts";
import type { OwnGit } from "./own-git.ts";

export type MergeOutcome =
  | { readonly state: "merged"; readonly commit: string; readonly how: "up_to_date" | "fast_forward" | "merge" }
  | MergeConflict;

export interface MergeConflict {
  readonly state: "conflict";
  /** What could not be merged, as the caller named it. */
  readonly branch: string;
  /** The commit that could not be merged. */
  readonly commit: string;
  readonly files: readonly string[];
  /** The commit that it does not fit together with, and the branches that were merged into this commit before. */
  readonly merged: { readonly commit: string; readonly branches: readonly string[] };
  /** The branches that come after it and were not tried. */
  readonly rest: readonly NamedCommit[];
}

export interface NamedCommit {
  readonly name: string;
  readonly commit: string;
}

export interface MergeRequest {
  readonly ours: string;
  readonly theirs: string;
  /** The name of what is merged, for a conflict. */
  readonly branch: string;
  readonly message: string;
  /** Whether ours may simply become theirs when nothing else happened; yes when absent. */
  readonly fastForward?: boolean;
  readonly signing?: Signing | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Changes no ref. No merge driver and no attribute of a file has a say. */
export async function mergeCommits(git: OwnGit, request: MergeRequest): Promise<MergeOutcome> {
  const { ours, theirs, branch, message, fastForward = true, signing, signal } = request;
  if (await isAncestor(git, theirs, ours)) return { state: "merged", commit: ours, how: "up_to_date" };
  if (fastForward && (await isAncestor(git, ours, theirs))) {
    return { state: "merged", commit: theirs, how: "fast_forward" };
  }
  const { code, stdout, stderr } = await git.run(
    ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs],
    { expected: [1, 128, 129], signal },
  );
  if (code === 129) throw new TuttiError("refused", "merging needs git 2.38 or newer; install it");
  if (code === 128) {
    const why = /unrelated histories/.test(stderr)
      ? "the two have no commit in common"
      : (stderr.trim().split("\n")[0] ?? "");
    throw new TuttiError("refused", `${branch} cannot be merged: ${why}`);
  }
  const [tree = "", ...files] = stdout.toString("utf8").split("\0");
  if (code === 1) {
    const named = [...new Set(files.filter((file) => file.trim() !== ""))];
    return {
      state: "conflict",
      branch,
      commit: theirs,
      files: named,
      merged: { commit: ours, branches: [] },
      rest: [],
    };
  }
  return {
    state: "merged",
    commit: await makeCommit(git, { tree: tree.trim(), parents: [ours, theirs], message, signing, signal }),
    how: "merge",
  };
}

export interface Ordered {
  readonly base: string;
  /** In the order in which they are merged. */
  readonly branches: readonly NamedCommit[];
  readonly signing?: Signing | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** All of them or none: the first conflict ends it. */
export async function mergeInOrder(git: OwnGit, { base, branches, signing, signal }: Ordered): Promise<MergeOutcome> {
  let commit = base;
  let how: "up_to_date" | "fast_forward" | "merge" = "up_to_date";
  for (const [index, { name, commit: theirs }] of branches.entries()) {
    const message = `Merge ${name}`;
    const outcome = await mergeCommits(git, { ours: commit, theirs, branch: name, message, signing, signal });
    if (outcome.state === "conflict") {
      const before = branches.slice(0, index).map((each) => each.name);
      return { ...outcome, merged: { commit, branches: before }, rest: branches.slice(index + 1) };
    }
    commit = outcome.commit;
    if (outcome.how !== "up_to_date") how = outcome.how;
  }
  return { state: "merged", commit, how };
}

export async function isAncestor(git: OwnGit, older: string, newer: string): Promise<boolean> {
  return (await git.run(["merge-base", "--is-ancestor", older, newer], { expected: [1] })).code === 0;
}
