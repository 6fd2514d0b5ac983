// What a person does with workspaces: lists them, looks at the work, merges it, and removes what is not needed any more.

import type { z } from "zod";

import { idInName, taskName } from "../../store/names.ts";
import type { StoreView, TaskListing } from "../../store/view.ts";
import type { Tutti } from "../../client/client.ts";
import {
  AttemptQuery,
  DiffQuery,
  IntegrateTasks,
  MergeTask,
  PruneWorkspaces,
  RemoveQuery,
  WorkspaceListQuery,
  type WorkspaceLeftover,
  type WorkspacePage,
  type WorkspaceView,
} from "../../protocol/api/workspace-shapes.ts";
import { thrownMessage, TuttiError } from "../../protocol/error.ts";
import { describeIssues, issuesOf } from "../../protocol/lenient-read.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { isTerminal } from "../../protocol/task/task-status.ts";
import { isProtectedPath } from "../../agent/workspace/protected-files.ts";
import {
  approveProtected,
  beginningOfPatch,
  chooseRemovals,
  type Confine,
  inspectWorkspace,
  mergeBranch,
  protectedChanges,
  readRecords,
  removeWorkspace,
  restoreWorkspace,
  sessionResult,
  type Workspace,
  workspaceOfTask,
  type WorkspaceStore,
} from "../../workspace/index.ts";
import { integrateTasks } from "./integrate-tasks.ts";
import { listPage } from "../http/list-page.ts";
import type { WorkspacesConfig } from "../project/workspaces-config.ts";

export interface WorkspaceControlDeps {
  readonly store: WorkspaceStore;
  readonly view: StoreView;
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
  /** The limits that the user's own config sets. */
  readonly limits: () => Promise<Pick<WorkspacesConfig, "max_size" | "keep_days">>;
  /** Confines git where it may start a program; undefined where nothing confines. */
  readonly confine: () => Promise<Confine | undefined>;
  /** The settings that hold in a folder. */
  readonly settings?: (project: string) => Promise<Pick<WorkspacesConfig, "branch" | "signing">>;
  readonly now: () => number;
  /** Ends pruning, which may take long, between two workspaces. */
  readonly stopping?: AbortSignal;
}

export interface WorkspaceControl extends Pick<
  Tutti,
  | "workspaces"
  | "taskWorkspace"
  | "workspaceDiff"
  | "mergeTask"
  | "integrateTasks"
  | "removeWorkspace"
  | "restoreWorkspace"
  | "pruneWorkspaces"
> {
  workspacePage(query?: WorkspaceListQuery): Promise<WorkspacePage>;
  /** Resolves when nothing is being merged or removed. */
  idle(): Promise<void>;
}

const dayMs = 86_400_000;
const mostLeftovers = 100;
const mostProtected = 1_000;

export function workspaceControl(deps: WorkspaceControlDeps): WorkspaceControl {
  const { store, redact } = deps;
  const { exclusively, idle } = oneAtATime();

  const view = async (workspace: Workspace): Promise<WorkspaceView> => {
    const { state, bytes, uncommitted, merged_into, problem } = await inspectWorkspace(store, workspace);
    const { id, kind, task, attempt, mode, project, repository, folder, branch, created_at } = workspace;
    const found = await taskOf(deps.view, task);
    return {
      id,
      kind,
      task,
      task_status: found?.status ?? null,
      attempt,
      mode,
      project,
      repository,
      folder,
      branch,
      created_at,
      bytes,
      state,
      uncommitted: [...uncommitted],
      merged_into: [...merged_into],
      problem: problem ?? null,
    };
  };

  const workspacePage: WorkspaceControl["workspacePage"] = async (query = {}) => {
    const { limit, cursor } = read(WorkspaceListQuery, query, "query");
    const { workspaces, unreadable, unknown } = readRecords(store);
    const { items, next } = listPage(workspaces, { limit, cursor }, ({ id }) => id);
    const views: WorkspaceView[] = [];
    for (const workspace of items) views.push(await view(workspace));
    const leftovers: WorkspaceLeftover[] = [
      ...unreadable.map(({ file, reason }) => ({ path: file, reason })),
      ...unknown.map((path) => ({ path, reason: "no record tells of this folder" })),
    ];
    return { workspaces: views, leftovers: cursor === undefined ? leftovers.slice(0, mostLeftovers) : [], next };
  };

  const remove = async (id: string, uncommitted: "refuse" | "save" | "discard") => {
    const { workspace, saved, branchDeleted } = await removeWorkspace(store, id, {
      uncommitted,
      confine: await deps.confine(),
    });
    return { id, branch: branchDeleted ? null : (workspace?.branch ?? null), saved: saved ?? null };
  };

  return {
    workspacePage,
    idle,
    async workspaces() {
      const { workspaces } = readRecords(store);
      const { leftovers } = await workspacePage({ limit: 1 });
      const views: WorkspaceView[] = [];
      for (const workspace of workspaces) views.push(await view(workspace));
      return { workspaces: views, leftovers };
    },

    taskWorkspace: async (task, query = {}) =>
      view(await workspaceOf(deps, task, read(AttemptQuery, query, "query").attempt)),

    async workspaceDiff(given, query = {}) {
      const { patch_bytes, attempt: wanted } = read(DiffQuery, query, "query");
      const workspace = await workspaceOf(deps, given, wanted);
      const { id, kind, task, attempt, mode, branch } = workspace;
      const result = await sessionResult(workspace);
      if (result === undefined) throw new TuttiError("conflict", noHistory(workspace));
      const { base, tip, added, removed, total } = result;
      const { uncommitted } = await inspectWorkspace(store, workspace);
      const held = await protectedChanges(store, workspace, { isProtected: isProtectedPath });
      const found = patch_bytes === 0 ? undefined : await beginningOfPatch(workspace, { maxBytes: patch_bytes });
      const { text, isChanged } = textOf(found?.patch ?? Buffer.alloc(0), redact);
      return {
        workspace: id,
        kind,
        task,
        attempt,
        mode,
        branch,
        base,
        tip,
        added,
        removed,
        total,
        commits: result.commits.map((each) => ({
          ...each,
          author: redact(each.author),
          subject: redact(each.subject),
        })),
        files: [...result.files],
        protected: held?.files.slice(0, mostProtected).map(({ path }) => path) ?? [],
        uncommitted: [...uncommitted],
        patch: text,
        patch_cut: found?.isCut ?? total.files > 0,
        patch_changed: isChanged,
      };
    },

    mergeTask: (given, options) =>
      exclusively(async () => {
        const wanted = read(MergeTask, options, "body");
        const { into, attempt, unverified, allow_checked_out } = wanted;
        const workspace = await workspaceOf(deps, given, attempt);
        const { id, task, branch, mode } = workspace;
        await refuseUnfinished(deps.view, task, "merge its work");
        if (mode !== "worktree" || branch === null) throw new TuttiError("conflict", noBranch(workspace));
        if (!unverified) {
          throw new TuttiError(
            "refused",
            `nothing has verified the work of ${task}; look at it with \`tutti diff ${task}\`, then merge it with --unverified (\`unverified: true\` in the API)`,
          );
        }
        refuseOwnBranch(readRecords(store).workspaces, into, workspace);
        const tip = await refuseProtected(store, workspace, { into, agreed: wanted.protected });
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
          uncommitted: [...uncommitted],
          warnings: [...unsigned],
        };
      }),

    integrateTasks: (options) => exclusively(() => integrateTasks(deps, read(IntegrateTasks, options, "body").tasks)),

    removeWorkspace: (id, options = {}) =>
      exclusively(async () => {
        const { uncommitted } = read(RemoveQuery, options, "query");
        const found = readRecords(store).workspaces.find((each) => each.id === id);
        if (found === undefined) throw new TuttiError("not_found", `there is no workspace ${id}`);
        await refuseUnfinished(deps.view, found.task, "remove its workspace");
        return remove(id, uncommitted);
      }),

    restoreWorkspace: (id) =>
      exclusively(async () => {
        if (!readRecords(store).workspaces.some((each) => each.id === id)) {
          throw new TuttiError("not_found", `there is no workspace ${id}`);
        }
        const { workspace, warnings } = await restoreWorkspace(store, id, { confine: await deps.confine() });
        return { workspace: await view(workspace), warnings: [...warnings] };
      }),

    pruneWorkspaces: (options = {}) =>
      exclusively(async () => {
        const { older_than_ms, max_bytes, dry_run } = read(PruneWorkspaces, options, "body");
        const { keep_days, max_size } = await deps.limits();
        const maxAgeMs = older_than_ms ?? (keep_days === undefined ? undefined : keep_days * dayMs);
        const maxBytes = max_bytes ?? max_size;
        if (maxAgeMs === undefined && maxBytes === undefined) {
          return { dry_run, removed: [], failed: [], over_bytes: 0 };
        }
        const candidates = [];
        for (const workspace of readRecords(store).workspaces) {
          deps.stopping?.throwIfAborted();
          // A shared folder is the person's own, and takes no room of ours.
          if (workspace.mode === "shared" || workspace.state === "removed") continue;
          const { state, bytes } = await inspectWorkspace(store, workspace);
          const task = await taskOf(deps.view, workspace.task);
          const active = task !== undefined && !isTerminal(task.status);
          const used_at = Math.max(workspace.created_at, task?.ended_at ?? 0);
          candidates.push({ id: workspace.id, task: workspace.task, state, bytes, used_at, active });
        }
        const { remove: chosen, over } = chooseRemovals(candidates, { maxAgeMs, maxBytes }, deps.now());
        const removed: Awaited<ReturnType<WorkspaceControl["pruneWorkspaces"]>>["removed"] = [];
        const failed: { id: string; problem: string }[] = [];
        let kept = 0;
        for (const { id, why } of chosen) {
          deps.stopping?.throwIfAborted();
          const { task, bytes } = candidates.find((each) => each.id === id) ?? { task: "", bytes: 0 };
          try {
            if (!dry_run) await remove(id, "refuse");
            removed.push({ id, task, bytes, why });
          } catch (thrown) {
            kept += bytes;
            failed.push({ id, problem: thrownMessage(thrown) });
          }
        }
        return { dry_run, removed, failed, over_bytes: over.bytes + (maxBytes === undefined ? 0 : kept) };
      }),
  };
}

/** For a task without a workspace, that of the only task below it that has one. */
async function workspaceOf(
  { store, view }: WorkspaceControlDeps,
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

async function taskOf(view: StoreView, task: TaskId): Promise<TaskListing | undefined> {
  const id = idInName(view.salt, task);
  return id === undefined ? undefined : view.task(id);
}

async function refuseUnfinished(view: StoreView, task: TaskId, to: string): Promise<void> {
  const found = await taskOf(view, task);
  if (found === undefined || isTerminal(found.status)) return;
  throw new TuttiError(
    "conflict",
    `${task} is not over: it is ${found.status}; to ${to}, wait until it has ended, or cancel it`,
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

interface ProtectedMerge {
  readonly into: string;
  /** Paths that the caller approves. */
  readonly agreed: readonly string[];
}

/** Returns the commit that may be merged. What the caller approves is noted, with the content that it has now. */
async function refuseProtected(
  store: WorkspaceStore,
  workspace: Workspace,
  { into, agreed }: ProtectedMerge,
): Promise<string> {
  const held = await protectedChanges(store, workspace, { isProtected: isProtectedPath, into });
  if (held === undefined) throw new TuttiError("conflict", noBranch(workspace));
  const { files, tip } = held;
  const open = files.filter(({ path }) => !agreed.includes(path)).map(({ path }) => path);
  if (open.length > 0) {
    const named = open.slice(0, 8).map((path) => JSON.stringify(path));
    const more = open.length > 8 ? ` and ${open.length - 8} more` : "";
    throw new TuttiError(
      "refused",
      `nothing was merged: ${workspace.task} changed protected files that nobody has approved: ${named.join(", ")}${more}; look at them with \`tutti diff ${workspace.task}\`, then approve each one with --protected FILE (\`protected\` in the API)`,
      { details: { task: workspace.task, protected: open.slice(0, mostProtected) } },
    );
  }
  if (files.length > 0) approveProtected(store, workspace.id, files);
  return tip;
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

function noHistory({ id, mode, folder }: Workspace): string {
  if (mode !== "shared") return `the workspace ${id} has no commit yet`;
  return `the workspace ${id} is the folder ${folder} itself, which is in no git repository; look at the files there`;
}

function noBranch({ task, mode, folder }: Workspace): string {
  return mode === "shared"
    ? `there is nothing to merge: ${task} worked in ${folder} itself`
    : `there is no branch to merge: ${task} worked in a copy; write its patch with \`tutti diff ${task} > work.patch\` and use it with \`git apply\``;
}

function textOf(
  patch: Buffer,
  redact: (text: string) => string,
): { readonly text: string; readonly isChanged: boolean } {
  const read = patch.toString("utf8");
  const text = redact(read);
  return { text, isChanged: text !== read || !Buffer.from(read, "utf8").equals(patch) };
}

/** The same error as over HTTP. */
function read<S extends z.ZodType>(schema: S, value: unknown, part: "query" | "body"): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new TuttiError("invalid_input", `the ${part} cannot be used: ${describeIssues(issuesOf(parsed.error))}`);
}

/** Two removals or merges at the same time would look at what the other one is changing. */
function oneAtATime() {
  let last: Promise<unknown> = Promise.resolve();
  const exclusively = <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  };
  const idle = async (): Promise<void> => void (await last);
  return { exclusively, idle };
}
