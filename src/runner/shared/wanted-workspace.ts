// The part of a runner's config that says in which workspace a task works.

import { z } from "zod";

import { TaskId } from "../../protocol/ids.ts";
import { WorkspaceMode } from "../../workspace/index.ts";

/** `resolve`: begin with the branches before it, and leave this one and those after it to the session. */
export const conflictChoices = ["resolve", "leave_out", "stop"] as const;

/** The workspace of each attempt; a worktree in a git repository and a copy elsewhere, when absent. */
export const WantedWorkspace = z
  .strictObject({
    mode: WorkspaceMode.optional(),
    /** Begin with the uncommitted changes of the checkout. */
    with_changes: z.boolean().optional(),
    /** A branch that exists already; the work goes on there. */
    branch: z.string().min(1).max(200).optional(),
    /** The commit to begin with instead of HEAD. */
    base: z
      .string()
      .regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/, "must be a full id of a commit")
      .optional(),
    /** Tasks whose work this one builds on: it begins with their branches, merged in this order onto HEAD's commit. */
    after: z.array(TaskId).min(1).max(50).optional(),
    /** What happens when such a branch conflicts with those before it; a person is asked when absent. */
    on_conflict: z.enum(["ask", ...conflictChoices]).optional(),
  })
  .refine(
    ({ after, base, branch, with_changes, mode }) =>
      after === undefined ||
      (base === undefined && branch === undefined && with_changes !== true && (mode ?? "worktree") === "worktree"),
    "a workspace with `after` is a worktree, and has neither `base` nor `branch` nor `with_changes`",
  );
export type WantedWorkspace = z.infer<typeof WantedWorkspace>;
