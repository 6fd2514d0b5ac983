// What a person does with workspaces: lists them, looks at the work, merges it, and removes what is not needed any more.

import type { StoreView } from "../../store/view.ts";
import type { Looking, Tutti } from "../../client/client.ts";
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
import type { KilledTask } from "../../protocol/api/session-shapes.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { thrownMessage, TuttiError } from "../../protocol/error.ts";
import { isTerminal } from "../../protocol/task/task-status.ts";
import { isProtectedPath } from "../../core/protected-path.ts";
import {
  type ChangedFile,
  beginningOfPatch,
  chooseRemovals,
  type Confine,
  inspectWorkspace,
  type ListedWorkspace,
  type ProtectedChanges,
  protectedChanges,
  readRecords,
  removeWorkspace,
  restoreWorkspace,
  saveWorkspace,
  sessionResult,
  type SessionResult,
  type Workspace,
  type WorkspaceStore,
  type WorkSoFar,
  workSoFar,
} from "../../workspace/index.ts";
import { refuseUnfinished, taskOf, workspaceOf } from "./find-workspace.ts";
import { integrateTasks } from "./integrate-tasks.ts";
import { lookGate, sharedLooks } from "./look-gate.ts";
import { mergeTask, mostProtected } from "./merge-task.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { type PullRequestControl, pullRequestControl } from "./pull-request-control.ts";
import { readInput } from "./read-input.ts";
import { verificationOf } from "./work-verification.ts";
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
  /** Ends pruning, which may take long, between two workspaces, and the programs that make a pull request. */
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
  | "pullRequestPlan"
  | "openPullRequest"
> {
  workspacePage(query?: WorkspaceListQuery, looking?: Looking): Promise<WorkspacePage>;
  /** Removes all workspaces of tasks whose processes have ended. One whose work cannot be saved stays. */
  removeKilled(tasks: readonly TaskId[]): Promise<KilledTask["workspaces"]>;
  /** Resolves when nothing is being merged, removed or pushed. */
  idle(): Promise<void>;
}

const dayMs = 86_400_000;
const mostLeftovers = 100;
const mostFiles = 2_000;

export function workspaceControl(deps: WorkspaceControlDeps): WorkspaceControl {
  const { store, redact } = deps;
  const { exclusively: oneByOne, idle } = oneAtATime();
  /** How much was changed here. Whoever looks after a change does not share a look that began before. */
  let changes = 0;
  const exclusively = <T>(work: () => Promise<T>): Promise<T> =>
    oneByOne(work).finally(() => {
      changes += 1;
    });
  const gate = lookGate();
  const inspections = sharedLooks<ListedWorkspace>(gate, deps.stopping);
  const diffs = sharedLooks<Looked>(gate, deps.stopping);
  const sameAs = (...what: readonly unknown[]): string => JSON.stringify([changes, ...what]);

  const view = async (workspace: Workspace, { signal }: Looking = {}): Promise<WorkspaceView> => {
    const { state, bytes, uncommitted, merged_into, problem } = await inspections(sameAs(workspace), signal, (own) =>
      inspectWorkspace(store, workspace, own),
    );
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

  /** Undefined when its folder cannot be read as it is: then what is committed is told. */
  const workNow = async (
    workspace: Workspace,
    { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
  ): Promise<WorkSoFar | undefined> => {
    try {
      return await workSoFar(workspace, { maxBytes, confine: await deps.confine(), signal });
    } catch (thrown) {
      signal.throwIfAborted();
      // The session writes meanwhile, and may write more than anybody wants to see.
      if (thrown instanceof TuttiError) return undefined;
      throw thrown;
    }
  };

  const look = async (
    workspace: Workspace,
    { patch_bytes: maxBytes, isOpen }: { readonly patch_bytes: number; readonly isOpen: boolean },
    signal: AbortSignal,
  ): Promise<Looked> => {
    const result = await sessionResult(workspace, { signal });
    if (result === undefined) throw new TuttiError("conflict", noHistory(workspace));
    const { uncommitted } = await inspectWorkspace(store, workspace, signal);
    const held = await protectedChanges(store, workspace, { isProtected: isProtectedPath, signal });
    const now = isOpen ? await workNow(workspace, { maxBytes, signal }) : undefined;
    const found = now ?? (maxBytes === 0 ? undefined : await beginningOfPatch(workspace, { maxBytes, signal }));
    const patch = found && { ...textOf(found.patch, redact), isCut: found.isCut };
    return { result, uncommitted, held, now: now?.files, patch };
  };

  /** Whether what the session has not committed can be told. */
  const isOpenWork = async ({ task, kind }: Workspace): Promise<boolean> => {
    const found = await taskOf(deps.view, task);
    return found !== undefined && !isTerminal(found.status) && kind !== "integration";
  };

  const workspacePage: WorkspaceControl["workspacePage"] = async (query = {}, looking = {}) => {
    const { limit, cursor } = readInput(WorkspaceListQuery, query, "query");
    const { workspaces, unreadable, unknown } = readRecords(store);
    const { items, next } = listPage(workspaces, { limit, cursor }, ({ id }) => id);
    const views: WorkspaceView[] = [];
    for (const workspace of items) views.push(await view(workspace, looking));
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

  const removeKilled = async (workspace: Workspace): Promise<KilledTask["workspaces"][number]> => {
    const { id, mode, branch, new_branch, folder } = workspace;
    const kept = { id, removed: false, branch, saved: null };
    if (mode === "shared") return { ...kept, kept_reason: `it is your own folder, ${folder}` };
    try {
      const confine = await deps.confine();
      // On a branch that Tutti made, the work is found where it is looked for. A branch of the person gets no half work.
      const commits = mode === "worktree" && new_branch ? "tutti" : "nobody";
      const message = `Work of ${workspace.task}, attempt ${workspace.attempt}, when it was killed`;
      const { commit } = await saveWorkspace(workspace, { commits, confine, message });
      const removed = await remove(id, "save");
      return { ...removed, removed: true, saved: commit === null ? removed.saved : branch, kept_reason: null };
    } catch (thrown) {
      return { ...kept, kept_reason: thrownMessage(thrown) };
    }
  };

  const control: Omit<WorkspaceControl, keyof PullRequestControl> = {
    workspacePage,
    removeKilled: (tasks) =>
      exclusively(async () => {
        const outcomes: KilledTask["workspaces"] = [];
        for (const workspace of readRecords(store).workspaces) {
          if (workspace.state === "removed" || !tasks.includes(workspace.task)) continue;
          outcomes.push(await removeKilled(workspace));
        }
        return outcomes;
      }),
    async workspaces() {
      const { workspaces } = readRecords(store);
      const { leftovers } = await workspacePage({ limit: 1 });
      const views: WorkspaceView[] = [];
      for (const workspace of workspaces) views.push(await view(workspace));
      return { workspaces: views, leftovers };
    },

    taskWorkspace: async (task, query = {}, looking = {}) =>
      view(await workspaceOf(deps, task, readInput(AttemptQuery, query, "query").attempt), looking),

    async workspaceDiff(given, query = {}, { signal } = {}) {
      const { patch_bytes, attempt: wanted, working } = readInput(DiffQuery, query, "query");
      const workspace = await workspaceOf(deps, given, wanted);
      const { id, kind, task, attempt, mode, branch } = workspace;
      const isOpen = working === true && (await isOpenWork(workspace));
      const { result, uncommitted, held, now, patch } = await diffs(
        sameAs(workspace, patch_bytes, isOpen),
        signal,
        (own) => look(workspace, { patch_bytes, isOpen }, own),
      );
      const { base, tip, total } = result;
      const files = now ?? result.files;
      return {
        workspace: id,
        kind,
        task,
        attempt,
        mode,
        branch,
        base,
        tip,
        verification: await verificationOf(deps.view, workspace, tip),
        added: now === undefined ? result.added : linesOf(now, "added"),
        removed: now === undefined ? result.removed : linesOf(now, "removed"),
        total: { ...total, files: now?.length ?? total.files },
        commits: result.commits.map((each) => ({
          ...each,
          author: redact(each.author),
          subject: redact(each.subject),
        })),
        files: files.slice(0, mostFiles),
        protected: held?.files.slice(0, mostProtected).map(({ path }) => path) ?? [],
        uncommitted: [...uncommitted],
        has_uncommitted: now !== undefined,
        patch: patch?.text ?? "",
        patch_cut: patch?.isCut ?? total.files > 0,
        patch_changed: patch?.isChanged ?? false,
      };
    },

    mergeTask: (given, options) =>
      exclusively(async () => {
        const wanted = readInput(MergeTask, options, "body");
        return mergeTask(deps, await workspaceOf(deps, given, wanted.attempt), wanted);
      }),

    integrateTasks: (options) =>
      exclusively(() => integrateTasks(deps, readInput(IntegrateTasks, options, "body").tasks)),

    removeWorkspace: (id, options = {}) =>
      exclusively(async () => {
        const { uncommitted } = readInput(RemoveQuery, options, "query");
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
        const { older_than_ms, max_bytes, dry_run } = readInput(PruneWorkspaces, options, "body");
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
  const { taskWorkspace, workspaceDiff } = control;
  const { stopping = new AbortController().signal } = deps;
  const pullRequests = pullRequestControl({ taskWorkspace, workspaceDiff, redact, stopping });
  return {
    ...control,
    ...pullRequests,
    idle: async () => void (await Promise.all([idle(), pullRequests.idle(), gate.idle()])),
  };
}

/** What git tells of the work of a workspace. */
interface Looked extends Pick<ListedWorkspace, "uncommitted"> {
  readonly result: SessionResult;
  readonly held: ProtectedChanges | undefined;
  /** The files as they are now, of a session that is at work. */
  readonly now: readonly ChangedFile[] | undefined;
  readonly patch: { readonly text: string; readonly isChanged: boolean; readonly isCut: boolean } | undefined;
}

function noHistory({ id, mode, folder }: Workspace): string {
  if (mode !== "shared") return `the workspace ${id} has no commit yet`;
  return `the workspace ${id} is the folder ${folder} itself, which is in no git repository; look at the files there`;
}

function textOf(
  patch: Buffer,
  redact: (text: string) => string,
): { readonly text: string; readonly isChanged: boolean } {
  const read = patch.toString("utf8");
  const text = redact(read);
  return { text, isChanged: text !== read || !Buffer.from(read, "utf8").equals(patch) };
}

function linesOf(files: readonly ChangedFile[], key: "added" | "removed"): number {
  return files.reduce((sum, file) => sum + (file[key] ?? 0), 0);
}
