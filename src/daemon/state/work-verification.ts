// Says whether the commit that a workspace stands at is one that Tutti has verified, by what the task recorded when it ended.

import { outcomeIn } from "../../engine/outcome.ts";
import type { WorkVerification } from "../../protocol/api/workspace-shapes.ts";
import { AssignmentResult } from "../../protocol/task/assignment.ts";
import { GoalResult } from "../../protocol/task/goal-report.ts";
import { idInName } from "../../store/names.ts";
import type { StoreView, TaskListing } from "../../store/view.ts";
import type { Workspace } from "../../workspace/index.ts";

type Recorded =
  | { readonly commit: string; readonly reason: string }
  | { readonly commit: null; readonly reason: string };

/** `tip`: the commit that would be merged or pushed. */
export async function verificationOf(view: StoreView, workspace: Workspace, tip: string): Promise<WorkVerification> {
  const { commit, reason } = await recordedFor(view, workspace);
  if (commit === null) return { state: "unverified", reason };
  if (commit === tip) return { state: "verified", reason };
  const moved = `the commit ${commit.slice(0, 12)} was verified, but the branch has moved to ${tip.slice(0, 12)} since`;
  return { state: "moved", reason: moved };
}

/**
 * Only the runners that verify are believed. The result of any other task is what a model or a program wrote, and may have
 * the same form.
 */
async function recordedFor(view: StoreView, { task, kind, id }: Workspace): Promise<Recorded> {
  const row = idInName(view.salt, task);
  const listed = row === undefined ? undefined : await view.task(row);
  const content = listed?.status === "completed" ? await contentOf(view, listed) : undefined;
  if (listed?.kind === "manager" && kind === "integration") {
    const goal = GoalResult.safeParse(content).data;
    if (goal?.status === "done" && goal.integration !== null) {
      return { commit: goal.integration.commit, reason: goal.reason };
    }
    return { commit: null, reason: `the goal ${task} was not reached` };
  }
  if (listed?.kind === "assignment" && kind === "attempt") {
    const result = AssignmentResult.safeParse(content).data;
    if (result === undefined) return { commit: null, reason: `${task} ended without a result` };
    if (result.state === "verified" && result.workspace === id && result.commit !== null) {
      return { commit: result.commit, reason: result.reason };
    }
    const isOther = result.state === "verified";
    return { commit: null, reason: isOther ? "another attempt of the task was verified" : result.reason };
  }
  return { commit: null, reason: `nothing has verified the work of ${task}` };
}

async function contentOf(view: StoreView, { id, result }: TaskListing): Promise<unknown> {
  const body = result ?? (await view.result(id));
  return body === undefined ? undefined : outcomeIn({ body }).content;
}
