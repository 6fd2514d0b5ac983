// Changes of protected files in the work of a session: a person has to approve each of them, by its content, before it is merged.

import { textBetween } from "./diff-trees.ts";
import { resolveCommit } from "./find-repository.ts";
import { openGit, type OwnGit } from "./own-git.ts";
import { repositoryShapes } from "./repository-shapes.ts";
import { readRecords, requireRecord, type WorkspaceStore, writeRecord } from "./record-store.ts";
import { finishedWork } from "./merge-predecessors.ts";
import { type ApprovedFile, branchRef, type Workspace } from "./workspace-record.ts";

export interface ProtectedLook {
  /** Whether a path, relative to the top of the repository, is that of a protected file or of a link to such files. */
  readonly isProtected: (path: string, isLink: boolean) => boolean;
  /** The branch that the work would go into: everything counts that it does not have. The base of the work when absent. */
  readonly into?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ProtectedChanges {
  readonly from: string;
  readonly tip: string;
  /** Those that nobody has approved yet. */
  readonly files: readonly ApprovedFile[];
}

/** Undefined when the work has no branch. What was approved for any work of the same repository, with the same content, is approved. */
export async function protectedChanges(
  store: WorkspaceStore,
  workspace: Workspace,
  { isProtected, into, signal }: ProtectedLook,
): Promise<ProtectedChanges | undefined> {
  const { git_dir, base, mode } = workspace;
  if (git_dir === null || base === null || mode !== "worktree") return undefined;
  const git = await openGit(git_dir, signal);
  const { commit: tip } = await finishedWork(workspace, signal);
  const from = into === undefined ? base : ((await mergeBase(git, into, { tip, signal })) ?? base);
  // Without renames: the new name is a file that was added, and the old one a file that was removed.
  const raw = await git.list(
    ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=none", from, tip],
    { signal },
  );
  const approved = new Set(
    readRecords(store)
      .workspaces.filter((each) => each.git_dir === git_dir)
      .flatMap((each) => each.approved.map(keyOf)),
  );
  const shapes = [...(raw.length === 0 ? [] : await repositoryShapes(git, tip, signal))];
  const files: ApprovedFile[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [, newMode = "", , object = ""] = (raw[at] ?? "").split(" ");
    const path = raw[at + 1] ?? "";
    const file = { path, content: /^0+$/.test(object) ? null : `${newMode} ${object}` };
    const counts = isProtected(path, newMode === linkMode) || shapes.some((folder) => path.startsWith(folder));
    if (counts && !approved.has(keyOf(file))) files.push(file);
  }
  return { from, tip, files };
}

/** How git writes that an entry is a link. */
const linkMode = "120000";

function keyOf({ path, content }: ApprovedFile): string {
  return JSON.stringify([path, content]);
}

async function mergeBase(
  git: OwnGit,
  into: string,
  { tip, signal }: { readonly tip: string; readonly signal: AbortSignal | undefined },
): Promise<string | undefined> {
  const target = await resolveCommit(git, branchRef(into), signal);
  const { code, stdout } = await git.run(["merge-base", target, tip], { expected: [1], signal });
  return code === 0 ? stdout.toString("utf8").trim() : undefined;
}

/** The changes of these files as a patch; undefined when it is longer. */
export async function protectedPatch(
  { git_dir }: Workspace,
  { from, tip, files }: ProtectedChanges,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal?: AbortSignal | undefined },
): Promise<string | undefined> {
  const git = await openGit(git_dir ?? "", signal);
  const paths = files.map(({ path }) => path);
  const options = { maxBytes, overflow: "cut", signal } as const;
  const { stdout, isCut } = await textBetween(git, { base: from, tip, paths }, options);
  return isCut ? undefined : stdout.toString("utf8");
}

export function approveProtected(store: WorkspaceStore, id: string, files: readonly ApprovedFile[]): void {
  const workspace = requireRecord(store, id);
  const known = new Map([...workspace.approved, ...files].map((file) => [keyOf(file), file]));
  writeRecord(store, { ...workspace, approved: [...known.values()] });
}
