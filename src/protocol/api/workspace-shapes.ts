// The queries, bodies and replies of the routes of workspaces.

import { z } from "zod";
import { TaskId, Time } from "../ids.ts";
import { queryBoolean } from "../query-boolean.ts";
import { TaskStatus } from "../task/task-status.ts";
import { count, nextItem } from "./list-query.ts";

const WorkspaceName = z
  .string()
  .max(210)
  .regex(/^wsp_[A-Za-z0-9_][A-Za-z0-9._-]*$/, "must be an id that begins with wsp_");

/** A branch by its short name, such as `main`. What has a meaning in git's language of revisions is refused. */
export const BranchName = z
  .string()
  .min(1)
  .max(200)
  .refine(isBranchName, "must be the name of a branch, such as main, and not another way to name a commit");

function isBranchName(name: string): boolean {
  if (/[\p{Cc} ~^:?*[\\]|\.\.|@\{|\/\//u.test(name) || /^[-/]|[/.]$/.test(name) || name === "@") return false;
  return name.split("/").every((part) => !part.startsWith(".") && !part.endsWith(".lock"));
}

export const WorkspaceParams = z.strictObject({ workspace: WorkspaceName });

/** Each one is looked at with git, so a page has few of them. */
export const WorkspaceListQuery = z.strictObject({
  limit: count(50, 20),
  cursor: z.string().min(1).max(512).optional(),
});
export type WorkspaceListQuery = z.input<typeof WorkspaceListQuery>;

/** `integration`: the work of several tasks, merged; it belongs to the task that they are below. */
const WorkspaceKind = z.enum(["attempt", "integration"]);

/** Chooses an attempt of the task; the newest one, or the integration of the tasks below it, when absent. */
const attemptChoice = z.coerce.number<number>().int().min(1).max(1_000_000).optional();

export const AttemptQuery = z.strictObject({ attempt: attemptChoice });
export type AttemptQuery = z.input<typeof AttemptQuery>;

export const WorkspaceView = z.strictObject({
  id: WorkspaceName,
  kind: WorkspaceKind,
  task: TaskId,
  /** Null when the task was removed from the records; its workspace stays. */
  task_status: TaskStatus.nullable(),
  attempt: z.int().min(1),
  mode: z.enum(["worktree", "shared", "copy"]),
  /** The folder that the task was started for. */
  project: z.string(),
  /** The top of the person's checkout; null without git. */
  repository: z.string().nullable(),
  folder: z.string(),
  branch: z.string().nullable(),
  created_at: Time,
  /** What it takes on disk. */
  bytes: z.int().nonnegative(),
  /** `uncommitted` also when git could not tell; `problem` says why. */
  state: z.enum(["clean", "uncommitted", "unmerged", "merged", "missing", "removed"]),
  /** Files that differ from the last commit, at most 100. */
  uncommitted: z.array(z.string()),
  /** The person's branches that have all its commits. */
  merged_into: z.array(z.string()),
  problem: z.string().nullable(),
});
export type WorkspaceView = z.infer<typeof WorkspaceView>;

/** What lies among the workspaces and belongs to none that is known. It is left alone. */
export const WorkspaceLeftover = z.strictObject({ path: z.string(), reason: z.string() });
export type WorkspaceLeftover = z.infer<typeof WorkspaceLeftover>;

export const WorkspacePage = z.strictObject({
  workspaces: z.array(WorkspaceView),
  /** Only on the first page, at most 100. */
  leftovers: z.array(WorkspaceLeftover),
  next: nextItem,
});
export type WorkspacePage = z.infer<typeof WorkspacePage>;

/** How much of a patch is sent at most. */
export const largestPatch = 8 * 1024 * 1024;

export const DiffQuery = z.strictObject({
  attempt: attemptChoice,
  /** How much of the patch is sent; 0 for none. */
  patch_bytes: z.coerce
    .number<number>()
    .int()
    .min(0)
    .max(largestPatch)
    .default(1024 * 1024),
  /** `true`: of a task that is not over, the files and the patch as its folder is now, with work that is in no commit. */
  working: queryBoolean.optional(),
});
export type DiffQuery = z.input<typeof DiffQuery>;

export const DiffFile = z.strictObject({
  path: z.string(),
  /** What it was called before, when it was renamed. */
  from: z.string().nullable(),
  change: z.enum(["added", "deleted", "modified", "renamed", "type changed"]),
  /** Lines; null for a binary file. */
  added: z.int().nullable(),
  removed: z.int().nullable(),
});
export type DiffFile = z.infer<typeof DiffFile>;

/** Whether Tutti verified exactly the commit in question. `moved`: it verified another one, which the branch has left. */
const WorkVerification = z.strictObject({ state: z.enum(["verified", "moved", "unverified"]), reason: z.string() });
export type WorkVerification = z.infer<typeof WorkVerification>;

/** The work of a task as git knows it: what is committed. */
export const WorkspaceDiff = z.strictObject({
  workspace: WorkspaceName,
  kind: WorkspaceKind,
  task: TaskId,
  attempt: z.int().min(1),
  mode: z.enum(["worktree", "shared", "copy"]),
  branch: z.string().nullable(),
  base: z.string(),
  tip: z.string(),
  /** Of the tip. */
  verification: WorkVerification,
  /** The newest first; at most 200. */
  commits: z.array(z.strictObject({ id: z.string(), author: z.string(), at: Time, subject: z.string() })),
  /** At most 2000. */
  files: z.array(DiffFile),
  added: z.int(),
  removed: z.int(),
  /** How many there are in all. */
  total: z.strictObject({ commits: z.int(), files: z.int() }),
  /** Protected files that were changed and that nobody has approved: merging refuses them; at most 1000. */
  protected: z.array(z.string()),
  /** Files with work that is in no commit; at most 100. */
  uncommitted: z.array(z.string()),
  /** Whether `files` and `patch` have that work, too. */
  has_uncommitted: z.boolean(),
  patch: z.string(),
  /** The patch is longer, and only its beginning is here. */
  patch_cut: z.boolean(),
  /** The patch is not byte for byte what git gave: it had a secret, or text that is not UTF-8. It does not apply. */
  patch_changed: z.boolean(),
});
export type WorkspaceDiff = z.infer<typeof WorkspaceDiff>;

export const MergeTask = z.strictObject({
  into: BranchName,
  attempt: z.int().min(1).optional(),
  /** Agrees to merge work that Tutti has not verified. */
  unverified: z.boolean().default(false),
  /** Protected files whose changes the caller has looked at and approves, by their paths in the repository. */
  protected: z.array(z.string().min(1)).max(1_000).default([]),
  /** Agrees to change a checkout of the branch, which must be clean. */
  allow_checked_out: z.boolean().default(false),
});
export type MergeTask = z.input<typeof MergeTask>;

export const MergedTask = z.strictObject({
  task: TaskId,
  workspace: WorkspaceName,
  branch: z.string(),
  into: z.string(),
  commit: z.string(),
  how: z.enum(["up_to_date", "fast_forward", "merge"]),
  verification: WorkVerification,
  /** Files with work that is in no commit, and so was not merged; at most 100. */
  uncommitted: z.array(z.string()),
  /** What a person should know, each a sentence. */
  warnings: z.array(z.string()),
});
export type MergedTask = z.infer<typeof MergedTask>;

export const IntegrateTasks = z.strictObject({
  /** In the order in which they are merged. A task stands for all sessions below it that are completed, too. */
  tasks: z.array(TaskId).min(1).max(200),
});
export type IntegrateTasks = z.input<typeof IntegrateTasks>;

export const IntegratedTasks = z.strictObject({
  /** The task that the branch is named after. `diff`, `merge` and `pr` of this task take the integration from now on. */
  task: TaskId,
  workspace: WorkspaceName,
  folder: z.string(),
  branch: z.string(),
  /** The commit that the branch began with. */
  base: z.string(),
  commit: z.string(),
  tree: z.string(),
  merged: z.array(z.strictObject({ task: TaskId, attempt: z.int().min(1), branch: z.string(), commit: z.string() })),
  /** Tasks whose work is not part of it, at most 100. */
  skipped: z.array(z.strictObject({ task: TaskId, why: z.string() })),
  /** What a person should know, each a sentence. */
  warnings: z.array(z.string()),
});
export type IntegratedTasks = z.infer<typeof IntegratedTasks>;

export const RemoveQuery = z.strictObject({
  /** What happens to uncommitted work. `save` keeps it in a ref, from which it comes back. */
  uncommitted: z.enum(["refuse", "save", "discard"]).default("refuse"),
});
export type RemoveQuery = z.input<typeof RemoveQuery>;

export const RemovedView = z.strictObject({
  id: WorkspaceName,
  /** The branch that keeps the work; null when there was none, or nothing was done on it. */
  branch: z.string().nullable(),
  /** The ref that keeps the uncommitted work. */
  saved: z.string().nullable(),
});
export type RemovedView = z.infer<typeof RemovedView>;

export const RestoredView = z.strictObject({
  workspace: WorkspaceView,
  /** What is not as it was, each a sentence. */
  warnings: z.array(z.string()),
});
export type RestoredView = z.infer<typeof RestoredView>;

export const PruneWorkspaces = z.strictObject({
  /** Remove those that were not used for this long; the config's `keep_days` when absent. */
  older_than_ms: z.int().nonnegative().optional(),
  /** Then remove the oldest until all take at most this much; the config's `max_size` when absent. */
  max_bytes: z.int().nonnegative().optional(),
  /** Only tell what would be removed. */
  dry_run: z.boolean().default(false),
});
export type PruneWorkspaces = z.input<typeof PruneWorkspaces>;

export const PrunedWorkspaces = z.strictObject({
  dry_run: z.boolean(),
  removed: z.array(
    z.strictObject({
      id: WorkspaceName,
      task: TaskId,
      bytes: z.int(),
      why: z.enum(["age", "count", "size"]),
    }),
  ),
  /** Those that were to go and could not be removed. */
  failed: z.array(z.strictObject({ id: WorkspaceName, problem: z.string() })),
  /** By how many bytes the limit is still exceeded: what is left is in use or has uncommitted work. */
  over_bytes: z.int().nonnegative(),
});
export type PrunedWorkspaces = z.infer<typeof PrunedWorkspaces>;
