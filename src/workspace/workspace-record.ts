// The record of a workspace: what it is, where it lies, and how far its making or removing has come.

import { join, relative } from "node:path";

import { z } from "zod";

import { TaskId, Time } from "../protocol/ids.ts";

const Commit = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/, "must be a full id of a commit");

/** `worktree`: a git worktree with a branch of its own. `shared`: the person's folder itself. `copy`: a copy of its files. */
export const WorkspaceMode = z.enum(["worktree", "shared", "copy"]);
export type WorkspaceMode = z.infer<typeof WorkspaceMode>;

export const WorkspaceId = z
  .string()
  .max(210)
  .regex(/^wsp_[A-Za-z0-9_][A-Za-z0-9._-]*$/, "must be an id that begins with wsp_");
export type WorkspaceId = z.infer<typeof WorkspaceId>;

/** A change of a protected file that a person agreed to. `content` is its mode and the id of its blob; null when it is removed. */
export const ApprovedFile = z.object({ path: z.string(), content: z.string().nullable() });
export type ApprovedFile = z.infer<typeof ApprovedFile>;

/** A place with disks of its own. The id tells machines apart; the name is for people. */
export const Machine = z.object({ id: z.string().min(1), name: z.string() });
export type Machine = z.infer<typeof Machine>;

export const Workspace = z.object({
  id: WorkspaceId,
  /** Where it lies. Absent where there is only one machine, and in records of older versions. */
  machine: Machine.optional(),
  /** `integration`: not of an attempt, but for the work of several tasks, merged; `task` is the one they are below. */
  kind: z.enum(["attempt", "integration"]).default("attempt"),
  task: TaskId,
  attempt: z.int().min(1),
  mode: WorkspaceMode,
  /** The folder that was asked for. */
  project: z.string(),
  /** The top of the person's checkout. */
  repository: z.string().nullable(),
  /** The git folder that holds the history: the repository's, noted when the workspace was made, or the one of a copy. */
  git_dir: z.string().nullable(),
  folder: z.string(),
  branch: z.string().nullable(),
  /** False when the branch existed before; then it is never deleted or rewritten. */
  new_branch: z.boolean(),
  /** The commit that the work began with. */
  base: Commit.nullable(),
  /** What the branch named when the workspace was removed, so that it can be made again. */
  head: Commit.nullable(),
  /** Paths that were copied from the checkout although git does not track them. They are never committed. */
  copied: z.array(z.string()),
  /** Changes of protected files that may be merged. */
  approved: z.array(ApprovedFile).default([]),
  created_at: Time,
  /** `creating` and `removing` are written before anything is done. */
  state: z.enum(["creating", "ready", "removing", "removed"]),
});
export type Workspace = z.infer<typeof Workspace>;

/** The same for the same attempt, so that making a workspace a second time finds the first one. */
export function workspaceId(task: string, attempt: number): WorkspaceId {
  return WorkspaceId.parse(`wsp_${task.replace(/^tsk_/, "")}-${attempt}`);
}

/** A tree of tasks has one. */
export function integrationId(task: string): WorkspaceId {
  return WorkspaceId.parse(`wsp_${task.replace(/^tsk_/, "")}-integration`);
}

/**
 * The workspace that has the work of a task: the one of its newest attempt, or of the attempt named. Where the work below a
 * task was integrated, that is its work, unless an attempt is named.
 */
export function workspaceOfTask(
  workspaces: readonly Workspace[],
  task: string,
  attempt?: number,
): Workspace | undefined {
  const own = workspaces.filter((each) => each.task === task);
  const attempts = own.filter(({ kind }) => kind === "attempt");
  if (attempt !== undefined) return attempts.find((each) => each.attempt === attempt);
  const integration = own.find(({ kind }) => kind === "integration");
  return integration ?? attempts.toSorted((one, other) => other.attempt - one.attempt)[0];
}

/** Where Tutti keeps what belongs to the workspace and is not for the session's eyes, and the objects that a session adds. */
export function sessionFolder({ folder }: Pick<Workspace, "folder">): string {
  return `${folder}.session`;
}

/** The folder to start a session in: the place of the project inside the workspace. */
export function startFolder({ mode, folder, repository, project }: Workspace): string {
  return mode === "worktree" && repository !== null ? join(folder, relative(repository, project)) : folder;
}

export function branchRef(branch: string): string {
  return `refs/heads/${branch}`;
}

/** Holds the uncommitted work of a workspace that was removed. */
export function savedRef({ id }: Pick<Workspace, "id">): string {
  return `refs/tutti/saved/${refPart(id)}`;
}

/** Holds commits of a session that are not on its branch. */
export function strayRef({ id }: Pick<Workspace, "id">, commit: string): string {
  return `refs/tutti/stray/${refPart(id)}/${commit}`;
}

export const defaultBranchPattern = "tutti/{task}-{attempt}";

/** The name of a new branch by a pattern with `{task}`, `{attempt}` and `{agent}`. What git does not take becomes a dash. */
export function branchName(
  pattern: string,
  {
    task,
    attempt,
    agent,
  }: { readonly task: string; readonly attempt: number | "integration"; readonly agent?: string | undefined },
): string {
  const parts: Readonly<Record<string, string>> = { task, attempt: String(attempt), agent: agent ?? "agent" };
  const filled = pattern.replaceAll(/\{(task|attempt|agent)\}/g, (_, name: string) => refPart(parts[name] ?? ""));
  return filled.split("/").map(refPart).join("/");
}

/** One part of the name of a ref. */
function refPart(text: string): string {
  const plain = text
    .replaceAll(/[^\p{L}\p{N}._+-]/gu, "-")
    .replaceAll(/\.{2,}/g, ".")
    .replace(/^[.-]+/, "")
    .replace(/(?:\.lock|\.)+$/i, "");
  return plain === "" ? "-" : plain;
}
