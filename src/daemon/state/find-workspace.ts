// Finds the workspace that has the work of a task, and how the task stands.

import { TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { isTerminal } from "../../protocol/task/task-status.ts";
import { idInName, taskName } from "../../store/names.ts";
import type { StoreView, TaskListing } from "../../store/view.ts";
import { readRecords, type Workspace, workspaceOfTask, type WorkspaceStore } from "../../workspace/index.ts";

export interface FindDeps {
  readonly store: WorkspaceStore;
  readonly view: StoreView;
}

/** For a task without a workspace, that of the only task below it that has one. */
export async function workspaceOf(
  { store, view }: FindDeps,
  task: TaskId,
  attempt: number | undefined,
): Promise<Workspace> {
  const { workspaces } = readRecords(store);
  const own = workspaceOfTask(workspaces, task, attempt);
  if (own !== undefined) return own;
  const others = workspaces.filter((each) => each.task === task && each.kind === "attempt");
  if (others.length > 0) throw noAttempt(task, attempt, others);
  const id = idInName(view.salt, task);
  if (id === undefined || (await view.place(id)) === undefined) {
    throw new TuttiError("not_found", `there is no task ${task}`);
  }
  const tasks = (await view.below(id)).map((each) => taskName(view.salt, each.id));
  const below = tasks.flatMap((each) => workspaceOfTask(workspaces, each) ?? []);
  const [only, another] = below;
  if (only === undefined) {
    throw new TuttiError("not_found", `the task ${task} has no workspace; \`tutti workspaces\` lists those there are`);
  }
  if (another === undefined) {
    const chosen = workspaceOfTask(workspaces, only.task, attempt);
    if (chosen !== undefined) return chosen;
    throw noAttempt(
      only.task,
      attempt,
      workspaces.filter((each) => each.task === only.task),
    );
  }
  const named = below.slice(0, 8).map((each) => each.task);
  throw new TuttiError(
    "conflict",
    `several tasks below ${task} have a workspace: ${named.join(", ")}${below.length > 8 ? ", …" : ""}; name one of them, or merge their work into one branch with \`tutti integrate ${task}\``,
    { details: { tasks: below.slice(0, 100).map((each) => each.task) } },
  );
}

function noAttempt(task: TaskId, attempt: number | undefined, others: readonly Workspace[]): TuttiError {
  const known = others.map((each) => each.attempt).toSorted((one, other) => one - other);
  return new TuttiError(
    "not_found",
    `${task} has no workspace of attempt ${attempt ?? ""}; there are those of attempt ${known.slice(-20).join(", ")}`,
  );
}

export async function taskOf(view: StoreView, task: TaskId): Promise<TaskListing | undefined> {
  const id = idInName(view.salt, task);
  return id === undefined ? undefined : view.task(id);
}

export async function refuseUnfinished(view: StoreView, task: TaskId, to: string): Promise<void> {
  const found = await taskOf(view, task);
  if (found === undefined || isTerminal(found.status)) return;
  throw new TuttiError(
    "conflict",
    `${task} is not over: it is ${found.status}; to ${to}, wait until it has ended, or cancel it`,
  );
}
