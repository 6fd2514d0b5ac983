// Where a session works: in a workspace of its own, made before its first process, or in the task's folder itself.

import { z } from "zod";

import { inLine } from "../../core/foreign-words.ts";
import { isProtectedPath } from "../../core/protected-path.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Durable, StepContext } from "../../ports.ts";
import {
  ApprovedFile,
  beginSession,
  type CommitSetting,
  type Confine,
  createWorkspace,
  endSession,
  protectedChanges,
  protectedPatch,
  readRecord,
  restoreWorkspace,
  saveWorkspace,
  type SessionConfinement,
  sessionResult,
  type SetupCache,
  startFolder,
  withCommitHooks,
  Workspace,
  workspaceId,
  type WorkspaceStore,
} from "../../workspace/index.ts";
import { workdirOf } from "../command/resolve-command.ts";
import { beginAfter, mergeInstructions } from "./begin-after.ts";
import type { ProgramPlace } from "./confined-program.ts";
import { findEarlierWork, requireHere, type RunPersonsProgram } from "./lost-workspace.ts";
import { stepToEnd } from "./step-to-end.ts";
import { runHooks } from "./run-hooks.ts";
import type { SetupCommand } from "./set-up.ts";
import type { LookingElsewhere } from "./work-elsewhere.ts";
import type { WantedWorkspace } from "./wanted-workspace.ts";

/** How sessions get workspaces. */
export interface SessionWorkspaces {
  readonly store: WorkspaceStore;
  /** Who commits what a session leaves uncommitted. */
  readonly commits: CommitSetting;
  readonly branchPattern?: string | undefined;
  /** Run in a new workspace before the first prompt. */
  readonly setup?: readonly SetupCommand[];
  /** Keeps what setup made, where the config says what it depends on. */
  readonly setupCache?: SetupCache | undefined;
  /** Files that git does not track and a session gets a copy of, such as `.env`. */
  readonly copy: readonly string[];
  readonly confine: Confine | undefined;
  /** Whether the person's commit hooks run before Tutti commits; yes when absent. */
  readonly hooks?: boolean | undefined;
  /** Whether Tutti's commits are signed where the person signs commits; yes when absent. */
  readonly signing?: boolean | undefined;
  /** Without it, branches that were pushed from a machine that was lost are not looked for. */
  readonly runPersonsProgram?: RunPersonsProgram | undefined;
  /** What tasks left on whichever machine; absent where there is only one. */
  readonly savedWork?: LookingElsewhere["savedWork"] | undefined;
  /** Whether a task that another one builds on is over; every task is when absent. */
  readonly isOver?: ((task: TaskId) => Promise<boolean>) | undefined;
}

export interface SessionFolder {
  /** The real path of the folder that the session works in. */
  readonly cwd: string;
  /** The folders that it may change. */
  readonly roots: readonly string[];
  /** What it sees of git; everything when absent. */
  readonly git?: SessionConfinement;
}

export interface OpenFolder {
  readonly offLimits: readonly string[];
  /** Absent where sessions work in the task's folder itself. */
  readonly workspaces?: SessionWorkspaces | undefined;
  readonly wanted: WantedWorkspace;
}

export interface OpenedFolder {
  readonly folder: SessionFolder;
  readonly workspace: Workspace | undefined;
  /** What a person should know of the workspace, each a sentence. */
  readonly warnings: readonly string[];
  /** What the session has to do before its prompt; usually nothing. */
  readonly instructions: string;
}

const Made = z.object({ workspace: Workspace, warnings: z.array(z.string()) });

/** The same attempt finds its workspace again, and so does an attempt that goes on with a stopped one. */
export async function openSessionFolder(
  durable: Durable,
  { offLimits, workspaces, wanted }: OpenFolder,
): Promise<OpenedFolder> {
  const { roots } = durable.rights;
  const project = await workdirOf(undefined, { roots, offLimits });
  if (workspaces === undefined) {
    if (wanted.after !== undefined) throw new TuttiError("refused", "sessions here have no workspaces to begin with");
    return { folder: { cwd: project, roots }, workspace: undefined, warnings: [], instructions: "" };
  }
  const { store } = workspaces;
  const { isOver, signing } = workspaces;
  const { branchPattern, runPersonsProgram, savedWork } = workspaces;
  const elsewhere = savedWork === undefined ? undefined : { savedWork, runPersonsProgram, project };
  const begin = await beginAfter(durable, { store, isOver, elsewhere, signing, project, wanted });
  const looking = { store, runPersonsProgram, branchPattern, project, base: begin.commit ?? wanted.base };
  const earlier = await findEarlierWork(durable, looking);
  const base = earlier.commit;
  const options = { key: "workspace", repeatable: true, schema: Made } as const;
  const { workspace: made, warnings } = await stepToEnd(durable, options, async (step) => {
    const attempt = durable.since;
    const known = readRecord(store, workspaceId(durable.task, attempt));
    if (known?.state === "removed") return restoreWorkspace(store, known.id, { confine: workspaces.confine });
    const outcome = await createWorkspace(store, {
      task: durable.task,
      attempt,
      agent: durable.agent,
      project,
      mode: wanted.mode,
      withChanges: wanted.with_changes,
      existingBranch: wanted.branch,
      ...(base === undefined ? {} : { base: { kind: "commit", commit: base } }),
      branchPattern: workspaces.branchPattern,
      copy: workspaces.copy,
      confine: workspaces.confine,
      now: step.now(),
      signal: step.signal,
    });
    if (outcome.state === "ready")
      return { workspace: outcome.workspace, warnings: [...outcome.warnings, ...dirtyNote(outcome.dirty, wanted)] };
    throw new TuttiError(
      "conflict",
      `${outcome.branch} does not fit together with what it builds on: ${outcome.files.join(", ")}`,
    );
  });
  const workspace = await requireHere(durable, store, made);
  return {
    folder: { cwd: startFolder(workspace), roots: [workspace.folder] },
    workspace,
    warnings: [...begin.warnings, ...earlier.warnings, ...warnings],
    instructions: mergeInstructions(begin.left),
  };
}

function dirtyNote(dirty: readonly string[], { with_changes }: WantedWorkspace): string[] {
  if (dirty.length === 0 || with_changes === true) return [];
  const named = dirty.slice(0, mostNamed).map(inLine).join(", ");
  const more = dirty.length > mostNamed ? ` and ${dirty.length - mostNamed} more` : "";
  return [
    `The session does not see what is not committed in your checkout: ${named}${more}. Commit what it needs. (Only \`tutti agents run\` has --with-changes.)`,
  ];
}

/** Before each process of the session. What an earlier process committed is brought over first. */
export async function beginInFolder(
  { store, confine }: SessionWorkspaces,
  workspace: Workspace,
): Promise<SessionConfinement> {
  await endSession(workspace, { confine });
  return beginSession(store, workspace);
}

export const SavedSession = z.object({
  workspace: z.string(),
  branch: z.string().nullable(),
  base: z.string().nullable(),
  tip: z.string().nullable(),
  commits: z.int(),
  files: z.int(),
  added: z.int(),
  removed: z.int(),
  /** Files with work that is in no commit. */
  uncommitted: z.int(),
  warnings: z.array(z.string()),
  /** Changes of protected files that nobody has approved yet. */
  protected: z
    .object({
      files: z.array(ApprovedFile),
      /** Undefined when it is too long to be shown. */
      patch: z.string().optional(),
    })
    .nullable()
    .default(null),
});
export type SavedSession = z.infer<typeof SavedSession>;

/** After the last process has ended: what the session left is committed as the setting says, and counted by git. */
export async function saveSession(
  { store, commits, confine, hooks = true, signing = true }: SessionWorkspaces,
  workspace: Workspace,
  { message, launch, step }: { readonly message: string; readonly launch: ProgramPlace; readonly step: StepContext },
): Promise<SavedSession> {
  const { signal } = step;
  const options = { commits, confine, message, sign: signing, signal };
  const saved =
    hooks && commits === "tutti"
      ? await withCommitHooks(workspace, (found) => {
          if (found === undefined) return saveWorkspace(workspace, options);
          const run = { launch, store, workspace, found, step };
          return saveWorkspace(workspace, { ...options, beforeCommit: (text) => runHooks(run, text) });
        })
      : await saveWorkspace(workspace, options);
  const result = await sessionResult(workspace, { signal });
  const held = await protectedChanges(store, workspace, { isProtected: isProtectedPath, signal });
  const isHeld = held !== undefined && held.files.length > 0;
  const patch = isHeld ? await protectedPatch(workspace, held, { maxBytes: mostShownBytes, signal }) : undefined;
  return {
    workspace: workspace.id,
    branch: workspace.branch,
    base: result?.base ?? workspace.base,
    tip: result?.tip ?? saved.tip,
    commits: result?.total.commits ?? 0,
    files: result?.total.files ?? 0,
    added: result?.added ?? 0,
    removed: result?.removed ?? 0,
    uncommitted: saved.uncommitted.length,
    warnings: [
      ...protectedNote(isHeld ? held.files : (result?.files ?? []), workspace),
      ...saved.warnings,
      ...(saved.session?.problems ?? []),
    ],
    protected: isHeld ? { files: [...held.files], ...(patch === undefined ? {} : { patch }) } : null,
  };
}

const mostShownBytes = 64 * 1024;
/** So many files are named. */
const mostNamed = 10;

/** Files that make other programs run code: whoever opens or merges the work should have looked at them. */
function protectedNote(files: readonly { readonly path: string }[], { mode }: Workspace): string[] {
  const found = files.filter(({ path }) => isProtectedPath(path)).map(({ path }) => path);
  if (found.length === 0) return [];
  const more = found.length > mostNamed ? ` and ${found.length - mostNamed} more` : "";
  const named = `${found.slice(0, mostNamed).join(", ")}${more}`;
  const what =
    mode === "worktree"
      ? "they are merged only when a person has approved them"
      : "look at them before you open or use its work";
  return [`The session changed protected files; ${what}: ${named}.`];
}

/** After a session that failed or was canceled: its commits are in the repository, and its files stay in the workspace. */
export async function leaveFolder({ confine }: SessionWorkspaces, workspace: Workspace): Promise<void> {
  await endSession(workspace, { confine });
}
