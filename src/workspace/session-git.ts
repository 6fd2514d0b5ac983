// What a confined session sees of git: everything can be read, and only objects, branches and a worktree of its own be written.

import { existsSync, mkdirSync } from "node:fs";
import { cp, lstat, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { TuttiError } from "../protocol/error.ts";
import { alternatesOf } from "./object-alternates.ts";
import { readRef } from "./find-repository.ts";
import type { ObjectStore, OwnGit } from "./own-git.ts";
import { openGit } from "./own-git.ts";
import type { WorkspaceStore } from "./record-store.ts";
import { isOwnWorktree, worktreeGitDir } from "./remove-files.ts";
import { branchRef, sessionFolder, type Workspace } from "./workspace-record.ts";

/** One mount of the sandbox: `from` on the machine appears at `to`. */
export interface SessionBind {
  readonly from: string;
  readonly to: string;
  readonly writable: boolean;
}

export interface SessionConfinement {
  /** Folders that the session may write to. */
  readonly writable: readonly string[];
  /** Files inside of them that it may only read. */
  readonly readOnly: readonly string[];
  /** Folders that appear empty, except for what is mounted inside of them. */
  readonly hidden: readonly string[];
  readonly binds: readonly SessionBind[];
}

/** The parts of the repository that are the session's own, on the machine. */
export interface PrivateGit {
  /** New objects of the session. */
  readonly objects: string;
  /** Mounted in the place of `refs/heads`. */
  readonly heads: string;
  readonly logs: string;
  /** An empty folder. In the sandbox the repository's own objects appear here. */
  readonly realObjects: string;
  /** The commit that the branch named when the session began. The session cannot see this file. */
  readonly start: string;
}

export function privateGit(workspace: Workspace): PrivateGit {
  const folder = join(sessionFolder(workspace), "git");
  return {
    objects: join(folder, "objects"),
    heads: join(folder, "heads"),
    logs: join(folder, "logs"),
    realObjects: join(folder, "real-objects"),
    start: join(folder, "start"),
  };
}

/** How Tutti's own git finds the objects that a session added. */
export function privateObjects(workspace: Workspace): ObjectStore {
  return {
    folder: privateGit(workspace).objects,
    alternates: [join(workspace.git_dir ?? "", "objects")],
  };
}

/**
 * Call it before each session, and `endSession` after it. In a sandbox with these mounts, whatever the session does changes
 * nothing of the repository; `endSession` brings its commits over.
 */
export async function beginSession(store: WorkspaceStore, workspace: Workspace): Promise<SessionConfinement> {
  const { folder, mode } = workspace;
  if (mode === "shared") return { writable: [folder], readOnly: [], hidden: [], binds: [] };
  if (mode === "copy") return { writable: [folder], readOnly: [], hidden: [store.root], binds: [] };
  const git = await openGit(workspace.git_dir ?? "");
  if (!isOwnWorktree(workspace)) {
    throw new TuttiError("not_found", `the worktree ${folder} is not known to git any more; restore the workspace`);
  }
  const own = privateGit(workspace);
  const others = await fillPrivateGit(git, workspace, own);
  const gitDir = worktreeGitDir(workspace);
  const common = git.gitDir;
  const read = (from: string, to = from): SessionBind => ({ from, to, writable: false });
  const write = (from: string, to = from): SessionBind => ({ from, to, writable: true });
  return {
    writable: [folder],
    readOnly: [join(folder, ".git")],
    hidden: [store.root],
    binds: [
      read(common),
      ...others.map((path) => read(path)),
      read(join(common, "objects"), own.realObjects),
      write(own.objects, join(common, "objects")),
      read(join(own.objects, "info"), join(common, "objects", "info")),
      write(own.heads, join(common, "refs", "heads")),
      ...(existsSync(join(common, "logs", "refs", "heads"))
        ? [write(own.logs, join(common, "logs", "refs", "heads"))]
        : []),
      write(gitDir),
      ...["commondir", "gitdir", "config.worktree"].map((name) => read(join(gitDir, name))),
    ],
  };
}

/** Returns the other object folders that the repository borrows from. */
async function fillPrivateGit(git: OwnGit, workspace: Workspace, own: PrivateGit): Promise<string[]> {
  const { gitDir } = git;
  const ref = branchRef(workspace.branch ?? "");
  const tip = await readRef(git, ref);
  if (tip === undefined) {
    throw new TuttiError("not_found", `the branch ${workspace.branch ?? ""} is gone; restore the workspace`);
  }
  for (const folder of [join(own.objects, "info"), join(own.objects, "pack"), own.realObjects]) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }
  // Git reads the packed ones as well, so only those that are files need a copy. Links among them are not followed.
  for (const folder of [own.heads, own.logs]) await rm(folder, { recursive: true, force: true });
  await cp(join(gitDir, "refs", "heads"), own.heads, {
    recursive: true,
    filter: async (source) => {
      const found = await lstat(source).catch(() => undefined);
      return found !== undefined && (found.isDirectory() || (found.isFile() && !source.endsWith(".lock")));
    },
  });
  mkdirSync(own.logs, { recursive: true, mode: 0o700 });
  const file = join(own.heads, ref.slice("refs/heads/".length));
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${tip}\n`);
  await writeFile(own.start, `${tip}\n`);
  const others = alternatesOf(join(gitDir, "objects"));
  await writeFile(
    join(own.objects, "info", "alternates"),
    [own.realObjects, ...others].map((path) => `${path}\n`).join(""),
  );
  return others;
}
