// Saves the uncommitted work of a workspace as a commit of Tutti's, if the setting says so, and tells what stays uncommitted.

import { existsSync } from "node:fs";
import { join } from "node:path";

import { usesFilters } from "./create-workspace.ts";
import { type EndSession, endSession, resetWorktree, type SessionImport } from "./end-session.ts";
import { readRef } from "./find-repository.ts";
import { copyRef } from "./folder-copy.ts";
import { importObjects } from "./import-objects.ts";
import { makeCommit, type Signing } from "./make-commit.ts";
import { openGit, type OwnGit } from "./own-git.ts";
import { withScratch } from "./scratch-store.ts";
import { type Snapshot, snapshotTree } from "./snapshot-tree.ts";
import { workLimits } from "./work-size.ts";
import { branchRef, sessionFolder, type Workspace } from "./workspace-record.ts";

/** Who commits: the session alone, Tutti what the session left, or nobody, so that the person finds it uncommitted. */
export type CommitSetting = "session" | "tutti" | "nobody";

export interface SaveOptions extends EndSession {
  readonly commits: CommitSetting;
  readonly message?: string | undefined;
  /** Runs the person's hooks in the workspace before Tutti commits there. They may change files. */
  readonly beforeCommit?: ((message: string) => Promise<CommitVerdict>) | undefined;
  /** Signs Tutti's commit where the person signs commits. */
  readonly sign?: boolean | undefined;
}

export type CommitVerdict =
  | { readonly message: string; readonly warnings: readonly string[] }
  /** Why nothing is committed, as a sentence. The work stays in the workspace. */
  | { readonly refused: string };

export interface SavedWork {
  /** The commit that the branch names now; null in a shared folder. */
  readonly tip: string | null;
  /** The commit that Tutti made, if it made one. */
  readonly commit: string | null;
  /** Files with work that is in no commit. */
  readonly uncommitted: readonly string[];
  /** Repositories inside the workspace; their files are in no commit of this one. */
  readonly nested: readonly string[];
  readonly session: SessionImport | undefined;
  readonly warnings: readonly string[];
}

/** Call it when no process of the session is alive. The person's checkout is never committed to. */
export async function saveWorkspace(workspace: Workspace, options: SaveOptions): Promise<SavedWork> {
  const { commits, message = `Work of ${workspace.task}, attempt ${workspace.attempt}`, signal } = options;
  let session = await endSession(workspace, options);
  const nothing = { commit: null, uncommitted: [], nested: [], session, warnings: [] };
  if (workspace.mode === "shared" || !existsSync(workspace.folder)) return { ...nothing, tip: session?.tip ?? null };
  const git = await openGit(workspace.git_dir ?? "", signal);
  let tip = session?.tip ?? (await readRef(git, copyRef)) ?? workspace.base ?? "";
  let verdict: CommitVerdict = { message, warnings: [] };
  if (commits === "tutti" && options.beforeCommit !== undefined) {
    const { snapshot } = await withUncommitted({ workspace, git, tip, ...options }, async () => undefined);
    if (snapshot.changed.length > 0) {
      verdict = await options.beforeCommit(message);
      session = (await endSession(workspace, options)) ?? session;
      tip = session?.tip ?? tip;
    }
  }
  const unsigned: string[] = [];
  const signing = options.sign === true ? { onUnsigned: (why: string) => unsigned.push(why) } : undefined;
  const { snapshot, result: made } = await withUncommitted(
    { workspace, git, tip, signing, ...options },
    async (found, commit) => {
      if (commits !== "tutti" || found.changed.length === 0 || "refused" in verdict) return undefined;
      const commitId = await commit(verdict.message);
      await git.run(["update-ref", "-m", "tutti: saved", tipRef(workspace), commitId, tip]);
      return commitId;
    },
  );
  if (made !== undefined && workspace.mode === "worktree") await resetWorktree(workspace, made, signal);
  return {
    tip: made ?? tip,
    commit: made ?? null,
    uncommitted: made === undefined ? snapshot.changed : [],
    nested: snapshot.nested,
    session,
    warnings: [...("refused" in verdict ? [verdict.refused] : verdict.warnings), ...unsigned, ...warningsOf(snapshot)],
  };
}

/** The full name of the ref that holds the work. */
export function tipRef({ mode, branch }: Pick<Workspace, "mode" | "branch">): string {
  return mode === "copy" || branch === null ? copyRef : branchRef(branch);
}

interface Looking extends EndSession {
  readonly workspace: Workspace;
  readonly git: OwnGit;
  readonly tip: string;
  readonly signing?: Signing | undefined;
}

/** Compares the files with the tip. `commit` makes a commit of them in the repository; no ref names it yet. */
export async function withUncommitted<T>(
  { workspace, git, tip, confine, signing, limits = workLimits, signal }: Looking,
  work: (snapshot: Snapshot, commit: (message: string) => Promise<string>) => Promise<T>,
): Promise<{ readonly snapshot: Snapshot; readonly result: T }> {
  return withScratch(sessionFolder(workspace), git.gitDir, async (scratch) => {
    const snapshot = await snapshotTree({
      git,
      workTree: workspace.folder,
      from: tip,
      scratch,
      exclude: workspace.copied,
      maxBytes: limits.bytes,
      confine: workspace.mode === "worktree" && usesFilters(git) ? confine : undefined,
      signal,
    });
    const commit = async (message: string): Promise<string> => {
      const made = await makeCommit(git, {
        tree: snapshot.tree,
        parents: [tip],
        message,
        objects: scratch.objects,
        signing,
        signal,
      });
      const packFile = join(scratch.folder, "import.pack");
      await importObjects({ git, from: scratch.objects, commits: [made], known: [tip], packFile, signal });
      return made;
    };
    return { snapshot, result: await work(snapshot, commit) };
  });
}

function warningsOf({ nested, withoutLfs }: Snapshot): string[] {
  return [
    ...nested.map((path) => `${path} is a git repository of its own; its files are not part of the work.`),
    ...(withoutLfs.length === 0
      ? []
      : [
          `${withoutLfs.slice(0, 10).join(", ")} should be kept in Git LFS and are ordinary files here; run \`git lfs migrate import --no-rewrite\` on the branch.`,
        ]),
  ];
}
