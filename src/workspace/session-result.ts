// The result of a session as git knows it: its commits, the files that it changed and how much, and a patch.

import { TuttiError } from "../protocol/error.ts";
import { filesBetween, patchBetween } from "./diff-trees.ts";
import { findRepository, headCommit, readRef } from "./find-repository.ts";
import { type GitOutput, openGit, type OwnGit } from "./own-git.ts";
import { tipRef } from "./save-workspace.ts";
import type { Workspace } from "./workspace-record.ts";

export interface ResultCommit {
  readonly id: string;
  readonly author: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly subject: string;
}

export interface ChangedFile {
  readonly path: string;
  /** What it was called before, when it was renamed. */
  readonly from: string | null;
  readonly change: "added" | "deleted" | "modified" | "renamed" | "type changed";
  /** Lines; null for a binary file. */
  readonly added: number | null;
  readonly removed: number | null;
}

export interface SessionResult {
  readonly base: string;
  readonly tip: string;
  /** The newest first. */
  readonly commits: readonly ResultCommit[];
  readonly files: readonly ChangedFile[];
  readonly added: number;
  readonly removed: number;
  /** How many there are, when the lists above leave some out. */
  readonly total: { readonly commits: number; readonly files: number };
}

export interface ResultOptions {
  readonly maxCommits?: number | undefined;
  readonly maxFiles?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Undefined when there is no history to tell from, as in a shared folder without git. */
export async function sessionResult(
  workspace: Workspace,
  options: ResultOptions = {},
): Promise<SessionResult | undefined> {
  const { maxCommits = 200, maxFiles = 2_000, signal } = options;
  const ends = await endsOf(workspace, signal);
  if (ends === undefined) return undefined;
  const { git, base, tip } = ends;
  const range = `${base}..${tip}`;
  const [count, log, diff] = await Promise.all([
    git.text(["rev-list", "--count", range], { signal }),
    git.text(["log", "-z", `--max-count=${maxCommits}`, "--format=%H%n%an%n%at%n%s", range], { signal }),
    filesBetween(git, ends, { signal }),
  ]);
  const files = changedFiles(diff);
  const sum = (key: "added" | "removed"): number => files.reduce((total, file) => total + (file[key] ?? 0), 0);
  return {
    base,
    tip,
    commits: log
      .split("\0")
      .filter((entry) => entry !== "")
      .map(commitOf),
    files: files.slice(0, maxFiles),
    added: sum("added"),
    removed: sum("removed"),
    total: { commits: Number(count), files: files.length },
  };
}

/** Applies with `git apply`, also for binary files. Throws `too_large` when it is larger than that. */
export async function sessionPatch(
  workspace: Workspace,
  { maxBytes = 64 * 1024 * 1024, signal }: { readonly maxBytes?: number; readonly signal?: AbortSignal } = {},
): Promise<Buffer> {
  const ends = await endsOf(workspace, signal);
  if (ends === undefined)
    throw new TuttiError("refused", `the workspace ${workspace.id} has no history to make a patch of`);
  return (await patchBetween(ends.git, ends, { maxBytes, signal })).stdout;
}

/** As much of the patch as fits, in whole lines. Undefined when there is no history to tell from. */
export async function beginningOfPatch(
  workspace: Workspace,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal?: AbortSignal | undefined },
): Promise<{ readonly patch: Buffer; readonly isCut: boolean } | undefined> {
  const ends = await endsOf(workspace, signal);
  if (ends === undefined) return undefined;
  return beginningIn(await patchBetween(ends.git, ends, { maxBytes, overflow: "cut", signal }));
}

/** Without the line that was cut. */
export function beginningIn({ stdout, isCut }: Pick<GitOutput, "stdout" | "isCut">): {
  readonly patch: Buffer;
  readonly isCut: boolean;
} {
  return { patch: isCut ? stdout.subarray(0, stdout.lastIndexOf("\n") + 1) : stdout, isCut };
}

async function endsOf(
  workspace: Workspace,
  signal: AbortSignal | undefined,
): Promise<{ readonly git: OwnGit; readonly base: string; readonly tip: string } | undefined> {
  const { git_dir, base, mode, head } = workspace;
  if (git_dir === null || base === null) return undefined;
  if (mode === "shared") {
    const repository = await findRepository(workspace.project, signal);
    return repository && { git: repository.git, base, tip: await headCommit(repository, signal) };
  }
  const git = await openGit(git_dir, signal);
  const tip = (await readRef(git, tipRef(workspace), signal)) ?? head;
  return tip === null ? undefined : { git, base, tip };
}

function commitOf(entry: string): ResultCommit {
  const [id = "", author = "", at = "0", ...subject] = entry.split("\n");
  return { id, author, at: Number(at) * 1000, subject: subject.join(" ") };
}

const changes: Readonly<Record<string, ChangedFile["change"]>> = {
  A: "added",
  C: "added",
  D: "deleted",
  M: "modified",
  R: "renamed",
  T: "type changed",
};

/** First come all entries of `--raw`, then all of `--numstat`. In both, a renamed file has two paths. */
export function changedFiles(fields: readonly string[]): ChangedFile[] {
  const files = new Map<string, ChangedFile>();
  let at = 0;
  for (; at < fields.length && fields[at]?.startsWith(":") === true; at += 1) {
    const letter = fields[at]?.split(" ").at(-1)?.[0] ?? "M";
    const hasTwo = letter === "R" || letter === "C";
    const [first = "", second = ""] = [fields[at + 1], fields[at + 2]];
    at += hasTwo ? 2 : 1;
    const path = hasTwo ? second : first;
    const from = letter === "R" ? first : null;
    files.set(path, { path, from, change: changes[letter] ?? "modified", added: null, removed: null });
  }
  for (; at < fields.length; at += 1) {
    const [added = "", removed = "", ...rest] = (fields[at] ?? "").split("\t");
    let path = rest.join("\t");
    if (path === "") {
      path = fields[at + 2] ?? "";
      at += 2;
    }
    const file = files.get(path);
    if (file !== undefined) files.set(path, { ...file, added: lines(added), removed: lines(removed) });
  }
  return [...files.values()];
}

function lines(text: string): number | null {
  return text === "-" ? null : Number(text);
}
