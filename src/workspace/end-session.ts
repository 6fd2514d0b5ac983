// Brings the commits of a session into the repository after it ended, and puts the worktree's git folder in order.

import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { copyFile, lstat, readdir, rename, rm } from "node:fs/promises";
import { join, relative } from "node:path";

import { replacePrivateFile } from "../files/private-file.ts";
import { thrownMessage } from "../protocol/error.ts";
import { isObjectId, readRef } from "./find-repository.ts";
import { importObjects } from "./import-objects.ts";
import { isAncestor } from "./merge-commits.ts";
import { type Confine, openGit, type OwnGit } from "./own-git.ts";
import { isOwnWorktree, worktreeGitDir } from "./remove-files.ts";
import { withScratch } from "./scratch-store.ts";
import { privateGit, privateObjects } from "./session-git.ts";
import { refuseHugeWork, type WorkLimits } from "./work-size.ts";
import { branchRef, sessionFolder, strayRef, type Workspace } from "./workspace-record.ts";

export interface EndSession {
  /** Used to read what the session wrote, which may be anything. */
  readonly confine?: Confine | undefined;
  readonly maxBytes?: number | undefined;
  readonly limits?: WorkLimits | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface SessionImport {
  /** The commit that the branch names now. */
  readonly tip: string;
  /** Whether the session's commits moved the branch. */
  readonly moved: boolean;
  /** Commits that are not on the branch and were kept under refs of Tutti. */
  readonly strays: readonly { readonly commit: string; readonly ref: string; readonly why: string }[];
  /** What the session left and could not be brought over, each a sentence. It is still in the workspace. */
  readonly problems: readonly string[];
}

const mostRefs = 1_000;

/** May also be called while a session goes on, to bring over what it has committed so far. */
export async function importSession(
  workspace: Workspace,
  { confine, maxBytes, limits, signal }: EndSession = {},
): Promise<SessionImport | undefined> {
  if (workspace.mode !== "worktree") return undefined;
  const git = await openGit(workspace.git_dir ?? "", signal);
  const ref = branchRef(workspace.branch ?? "");
  const own = privateGit(workspace);
  const before = (await readRef(git, ref)) ?? workspace.base ?? "";
  if (!existsSync(own.heads)) return { tip: before, moved: false, strays: [], problems: [] };
  const left = await sessionCommits(workspace);
  const strays: { commit: string; ref: string; why: string }[] = [];
  const problems: string[] = [];
  const bring = async (commit: string): Promise<boolean> => {
    try {
      await importObjects({
        git,
        from: privateObjects(workspace),
        commits: [commit],
        known: [before],
        packFile: join(sessionFolder(workspace), "import.pack"),
        confine,
        maxBytes,
        signal,
      });
      return true;
    } catch (thrown) {
      problems.push(`The commit ${commit} of the session cannot be used: ${thrownMessage(thrown)}`);
      return false;
    }
  };
  /** Only what the branch names is ever checked out. */
  const fits = async (commit: string): Promise<boolean> => {
    try {
      await refuseHugeWork(git, { commit, base: before, limits, signal });
      return true;
    } catch (thrown) {
      problems.push(`The commit ${commit} of the session cannot be used: ${thrownMessage(thrown)}`);
      return false;
    }
  };
  const keep = async (commit: string, why: string): Promise<void> => {
    const to = strayRef(workspace, commit);
    await git.run(["update-ref", to, commit]);
    strays.push({ commit, ref: to, why });
  };
  let tip = before;
  const { head } = left;
  if (head !== undefined && head !== before && (await bring(head)) && (await fits(head))) {
    const start = smallFile(own.start);
    if (await isAncestor(git, before, head)) tip = head;
    else if (workspace.new_branch && start === before) {
      await keep(before, "The session rewrote its branch; this is what it named before.");
      tip = head;
    } else await keep(head, "The branch has commits that the session did not have, so it was not moved.");
    if (tip === head) await git.run(["update-ref", "-m", "tutti: session", ref, head, before]);
  }
  for (const commit of left.others) {
    if (await isKnown(git, commit)) continue;
    if (await bring(commit)) await keep(commit, "The session made this commit outside of its branch.");
  }
  return { tip, moved: tip !== before, strays, problems };
}

/**
 * Imports, then makes the worktree's git folder as if its branch had just been checked out: what the session put there, such as
 * a link or a lock, is gone, and what it staged is unstaged. The files stay. No process of the session may be alive.
 */
export async function endSession(workspace: Workspace, options: EndSession = {}): Promise<SessionImport | undefined> {
  const outcome = await importSession(workspace, options);
  if (outcome === undefined || !isOwnWorktree(workspace)) return outcome;
  await resetWorktree(workspace, outcome.tip, options.signal);
  if (outcome.problems.length === 0) {
    const { objects, heads, logs } = privateGit(workspace);
    for (const folder of [heads, logs, objects]) await rm(folder, { recursive: true, force: true });
  }
  return outcome;
}

/** Written before each session by git and Tutti, and not writable for a session. */
const kept = ["commondir", "gitdir", "config.worktree"];

export async function resetWorktree(workspace: Workspace, tip: string, signal?: AbortSignal): Promise<void> {
  const git = await openGit(workspace.git_dir ?? "", signal);
  const gitDir = worktreeGitDir(workspace);
  for (const name of await readdir(gitDir)) {
    if (!kept.includes(name) && name !== "HEAD") await rm(join(gitDir, name), { recursive: true, force: true });
  }
  const head = await lstat(join(gitDir, "HEAD")).catch(() => undefined);
  if (head?.isDirectory() === true) await rm(join(gitDir, "HEAD"), { recursive: true });
  replacePrivateFile(join(gitDir, "HEAD"), `ref: ${branchRef(workspace.branch ?? "")}\n`);
  if (!existsSync(workspace.folder)) return;
  await withScratch(sessionFolder(workspace), git.gitDir, async ({ index }) => {
    const options = { workTree: workspace.folder, index, signal };
    await git.run(["read-tree", tip], options);
    await git.run(["update-index", "-q", "--refresh"], { ...options, expected: [1] });
    const draft = join(gitDir, "index.new");
    await copyFile(index, draft, constants.COPYFILE_EXCL);
    await rename(draft, join(gitDir, "index"));
  });
}

interface Left {
  /** What the session's own branch names. */
  readonly head: string | undefined;
  /** What its other branches and a detached HEAD name. */
  readonly others: readonly string[];
}

/** Only full ids are taken from the session's files: nothing in them names another ref or file. */
export async function sessionCommits(workspace: Workspace): Promise<Left> {
  const { heads } = privateGit(workspace);
  const others = new Set<string>();
  let head: string | undefined;
  const entries = await readdir(heads, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries.filter((each) => each.isFile()).slice(0, mostRefs)) {
    const file = join(entry.parentPath, entry.name);
    const id = smallFile(file);
    if (id === undefined || !isObjectId(id)) continue;
    if (relative(heads, file) === workspace.branch) head = id;
    else others.add(id);
  }
  const detached = smallFile(join(worktreeGitDir(workspace), "HEAD"));
  if (detached !== undefined && isObjectId(detached)) others.add(detached);
  return { head, others: [...others].filter((id) => id !== head) };
}

/** The first line of an ordinary file; undefined for anything else. A link is not followed and a pipe not waited for. */
function smallFile(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    if (!fstatSync(file).isFile()) return undefined;
    const buffer = Buffer.alloc(100);
    const length = readSync(file, buffer, 0, buffer.length, 0);
    return buffer.toString("latin1", 0, length).trim();
  } finally {
    closeSync(file);
  }
}

async function isKnown(git: OwnGit, commit: string): Promise<boolean> {
  return (await git.run(["cat-file", "-e", `${commit}^{commit}`], { expected: [1, 128] })).code === 0;
}
