// Merges the work of a task into a branch of the person, after everything that the person must have agreed to.

import type { z } from "zod";

import { isProtectedPath } from "../../core/protected-path.ts";
import type { MergedTask, MergeTask, WorkVerification } from "../../protocol/api/workspace-shapes.ts";
import { TuttiError } from "../../protocol/error.ts";
import {
  approveProtected,
  inspectWorkspace,
  mergeBranch,
  protectedChanges,
  type ProtectedChanges,
  readRecords,
  type Workspace,
} from "../../workspace/index.ts";
import type { WorkspacesConfig } from "../project/workspaces-config.ts";
import { type FindDeps, refuseUnfinished } from "./find-workspace.ts";
import { verificationOf } from "./work-verification.ts";

/** How many protected files are named at most. */
export const mostProtected = 1_000;

export interface MergeDeps extends FindDeps {
  /** The settings that hold in a folder. */
  readonly settings?: (project: string) => Promise<Pick<WorkspacesConfig, "signing">>;
}

export async function mergeTask(
  deps: MergeDeps,
  workspace: Workspace,
  wanted: z.output<typeof MergeTask>,
): Promise<MergedTask> {
  const { store } = deps;
  const { into, allow_checked_out } = wanted;
  const { id, task, branch, mode } = workspace;
  await refuseUnfinished(deps.view, task, "merge its work");
  if (mode !== "worktree" || branch === null) throw new TuttiError("conflict", noBranch(workspace));
  refuseOwnBranch(readRecords(store).workspaces, into, workspace);
  const held = await protectedChanges(store, workspace, { isProtected: isProtectedPath, into });
  if (held === undefined) throw new TuttiError("conflict", noBranch(workspace));
  const { tip, files } = held;
  const verification = await verificationOf(deps.view, workspace, tip);
  if (verification.state !== "verified" && !wanted.unverified) throw unverifiedError(workspace, verification);
  refuseProtected(workspace, held, wanted.protected);
  // What the caller approves is noted with the content that it has now.
  if (files.length > 0) approveProtected(store, id, files);
  const { signing = true } = (await deps.settings?.(workspace.project)) ?? {};
  const unsigned = new Set<string>();
  const outcome = await mergeBranch({
    project: workspace.repository ?? workspace.project,
    // The commit that was looked at, and not the branch, which somebody may move.
    from: tip,
    into,
    message: `Merge ${branch} into ${into}`,
    allowCheckedOut: allow_checked_out,
    signing: signing ? { onUnsigned: (problem) => unsigned.add(problem) } : undefined,
  });
  if (outcome.state === "conflict") throw conflictOf(workspace, into, outcome.files);
  const { uncommitted } = await inspectWorkspace(store, workspace);
  const { commit, how } = outcome;
  return {
    task,
    workspace: id,
    branch,
    into,
    commit,
    how,
    verification,
    uncommitted: [...uncommitted],
    warnings: [...unsigned],
  };
}

function unverifiedError({ task }: Workspace, { reason }: WorkVerification): TuttiError {
  return new TuttiError(
    "refused",
    `nothing was merged, because Tutti has not verified this work: ${reason}; look at it with \`tutti diff ${task}\`, then merge it with --unverified (\`unverified: true\` in the API)`,
  );
}

/** Otherwise a merge could change the folder of a session, or the branch that its work is looked for on. */
function refuseOwnBranch(workspaces: readonly Workspace[], into: string, from: Workspace): void {
  const owner = workspaces.find(
    ({ branch, git_dir, new_branch }) => branch === into && git_dir === from.git_dir && new_branch,
  );
  if (owner === undefined) return;
  throw new TuttiError(
    "refused",
    `${into} is the branch of the workspace ${owner.id}, which belongs to ${owner.task}; merge into a branch of your own`,
  );
}

/** `agreed`: paths that the caller approves. */
function refuseProtected({ task }: Workspace, { files }: ProtectedChanges, agreed: readonly string[]): void {
  const open = files.filter(({ path }) => !agreed.includes(path)).map(({ path }) => path);
  if (open.length === 0) return;
  const named = open.slice(0, 8).map((path) => JSON.stringify(path));
  const more = open.length > 8 ? ` and ${open.length - 8} more` : "";
  throw new TuttiError(
    "refused",
    `nothing was merged: ${task} changed protected files that nobody has approved: ${named.join(", ")}${more}; look at them with \`tutti diff ${task}\`, then approve each one with --protected FILE (\`protected\` in the API)`,
    { details: { task, protected: open.slice(0, mostProtected) } },
  );
}

function conflictOf({ task, branch }: Workspace, into: string, files: readonly string[]): TuttiError {
  const named = files.slice(0, 8).map((file) => JSON.stringify(file));
  const more = files.length > 8 ? ` and ${files.length - 8} more` : "";
  return new TuttiError(
    "conflict",
    `nothing was merged: ${branch} and ${into} conflict in ${named.join(", ")}${more}; merge them with git itself`,
    { details: { task, files: files.slice(0, 1_000) } },
  );
}

function noBranch({ task, mode, folder }: Workspace): string {
  return mode === "shared"
    ? `there is nothing to merge: ${task} worked in ${folder} itself`
    : `there is no branch to merge: ${task} worked in a copy; write its patch with \`tutti diff ${task} > work.patch\` and use it with \`git apply\``;
}
