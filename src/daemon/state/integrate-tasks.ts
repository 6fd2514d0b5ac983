// Finds the work of the tasks that a person names and merges it into the integration branch of their tree.

import type { StoreView } from "../../store/view.ts";
import type { IntegratedTasks } from "../../protocol/api/workspace-shapes.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { isTerminal, type TaskStatus } from "../../protocol/task/task-status.ts";
import { idInName, taskName } from "../../store/names.ts";
import {
  type Confine,
  finishedWork,
  type FinishedWork,
  integrateWorks,
  type MergeConflict,
  readRecords,
  type Workspace,
  workspaceOfTask,
  type WorkspaceStore,
} from "../../workspace/index.ts";
import type { WorkspacesConfig } from "../project/workspaces-config.ts";

export interface IntegrateDeps {
  readonly store: WorkspaceStore;
  readonly view: StoreView;
  readonly confine: () => Promise<Confine | undefined>;
  readonly settings?: (project: string) => Promise<Pick<WorkspacesConfig, "branch" | "signing">>;
  readonly now: () => number;
}

const mostSkipped = 100;

export async function integrateTasks(deps: IntegrateDeps, tasks: readonly TaskId[]): Promise<IntegratedTasks> {
  const { store, view } = deps;
  const { found, skipped } = await sessionsOf(deps, tasks);
  const [first] = found;
  if (first === undefined) {
    const [why] = skipped;
    throw new TuttiError(
      "conflict",
      `there is no work to integrate${why === undefined ? ": none of these tasks has a workspace" : `: ${why.task} ${why.why}`}`,
      { details: { skipped: skipped.slice(0, mostSkipped) } },
    );
  }
  const { workspace } = first;
  const owner = await ownerOf(view, tasks);
  const { branch: branchPattern, signing = true } = (await deps.settings?.(workspace.project)) ?? {};
  const unsigned = new Set<string>();
  const works = found.map(({ work }) => work);
  const outcome = await integrateWorks(store, {
    repository: workspace.repository ?? workspace.project,
    git_dir: workspace.git_dir ?? "",
    task: owner,
    works,
    branchPattern,
    confine: await deps.confine(),
    signing: signing ? { onUnsigned: (problem) => unsigned.add(problem) } : undefined,
    now: deps.now(),
  });
  if (outcome.state === "conflict") throw conflictOf(outcome, works);
  const { branch, base, commit, tree, warnings } = outcome;
  return {
    task: owner,
    workspace: outcome.workspace.id,
    folder: outcome.workspace.folder,
    branch,
    base,
    commit,
    tree,
    merged: works,
    skipped: skipped.slice(0, mostSkipped),
    warnings: [...warnings, ...unsigned],
  };
}

interface Sessions {
  readonly found: { readonly workspace: Workspace; readonly work: FinishedWork }[];
  readonly skipped: { readonly task: TaskId; readonly why: string }[];
}

/** Of a task that is named itself, also work that failed; of those below it, only what is completed. */
async function sessionsOf({ store, view }: IntegrateDeps, tasks: readonly TaskId[]): Promise<Sessions> {
  const { workspaces } = readRecords(store);
  const attempts = workspaces.filter(({ kind }) => kind === "attempt");
  const [found, skipped]: [Sessions["found"], Sessions["skipped"]] = [[], []];
  const seen = new Set<TaskId>();
  for (const named of tasks) {
    for (const { task, status } of await tasksBelow(view, named, attempts)) {
      const workspace = seen.has(task) ? undefined : workspaceOfTask(attempts, task);
      if (workspace === undefined) continue;
      seen.add(task);
      const why = whySkipped(workspace, { status, isNamed: task === named, first: found[0]?.workspace });
      const work = why === undefined ? await finishedWork(workspace) : undefined;
      if (work === undefined) skipped.push({ task, why: why ?? "" });
      else if (work.commit === workspace.base) skipped.push({ task, why: "has no commit of its own" });
      else found.push({ workspace, work });
    }
  }
  return { found, skipped };
}

interface Candidate {
  readonly status: TaskStatus | undefined;
  readonly isNamed: boolean;
  readonly first: Workspace | undefined;
}

function whySkipped({ mode, git_dir, branch }: Workspace, { status, isNamed, first }: Candidate): string | undefined {
  if (status !== undefined && !isTerminal(status)) return `is not over: it is ${status}`;
  if (!isNamed && status !== "completed") return `did not complete: it is ${status ?? "gone"}`;
  if (mode !== "worktree" || branch === null) return `has no branch: it worked in the mode ${mode}`;
  return first === undefined || git_dir === first.git_dir ? undefined : "worked in another repository";
}

async function tasksBelow(
  view: StoreView,
  named: TaskId,
  attempts: readonly Workspace[],
): Promise<{ readonly task: TaskId; readonly status: TaskStatus | undefined }[]> {
  const id = idInName(view.salt, named);
  if (id !== undefined && (await view.place(id)) !== undefined) {
    return (await view.below(id)).map((each) => ({ task: taskName(view.salt, each.id), status: each.status }));
  }
  // A task that was removed from the records may have left its workspace.
  if (attempts.some(({ task }) => task === named)) return [{ task: named, status: undefined }];
  throw new TuttiError("not_found", `there is no task ${named}`);
}

/** One task stands for itself, and several for the tree of the first. */
async function ownerOf(view: StoreView, [first = "", ...others]: readonly TaskId[]): Promise<TaskId> {
  const id = idInName(view.salt, first);
  const place = id === undefined || others.length === 0 ? undefined : await view.place(id);
  return place === undefined ? first : taskName(view.salt, place.root);
}

function conflictOf(
  { branch, commit, files, merged, rest }: MergeConflict,
  works: readonly FinishedWork[],
): TuttiError {
  const named = files.slice(0, 8).map((file) => JSON.stringify(file));
  const more = files.length > 8 ? ` and ${files.length - 8} more` : "";
  const at = works.findIndex((each) => each.branch === branch);
  const task = works[at]?.task ?? "";
  return new TuttiError(
    "conflict",
    `nothing was integrated: ${branch} conflicts in ${named.join(", ")}${more} with the work merged before it; leave ${task} out, or start a task that resolves the conflict with \`tutti agents run … --after\``,
    {
      details: {
        task,
        branch,
        commit,
        files: files.slice(0, 1_000),
        merged: { commit: merged.commit, works: works.slice(0, at) },
        rest: works.slice(works.length - rest.length),
      },
    },
  );
}
