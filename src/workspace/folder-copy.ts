// A workspace that is a copy of a folder: the files, and beside them a small git folder that knows how they were.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { discoverGit, openGit, type OwnGit } from "./own-git.ts";
import { ownFolders, type WorkspaceStore } from "./record-store.ts";
import { makeCommit } from "./make-commit.ts";
import { snapshotTree } from "./snapshot-tree.ts";
import { withScratch } from "./scratch-store.ts";
import { sessionFolder, type Workspace } from "./workspace-record.ts";

/** What names the state of a copy in its git folder. */
export const copyRef = "refs/heads/work";

/** Contents are kept byte for byte, whatever a file of the folder says about line ends or filters. `!diff`: git sees what is text. */
export const copyAttributes = "* -text -eol -filter -ident -working-tree-encoding !diff -merge\n";

/** A folder with more than this is no project that one copies for each attempt. */
const mostBytes = 4 * 1024 ** 3;

export interface FilledCopy {
  /** Depends on the content of the files alone. */
  readonly base: string;
  readonly warnings: readonly string[];
}

export async function fillCopy(store: WorkspaceStore, workspace: Workspace, signal?: AbortSignal): Promise<FilledCopy> {
  const { project, folder } = workspace;
  const git = await makeCopyGit(workspace.git_dir ?? "");
  await store.checkpoint?.("copy begun");
  return withScratch(sessionFolder(workspace), git.gitDir, async ({ folder: scratch, index }) => {
    const objects = { folder: join(git.gitDir, "objects"), alternates: [] };
    const snapshot = await snapshotTree({
      git,
      workTree: project,
      from: undefined,
      scratch: { folder: scratch, index, objects },
      exclude: ownFolders(store, project),
      maxBytes: mostBytes,
      signal,
    });
    const message = "The files as they were";
    const base = await makeCommit(git, { tree: snapshot.tree, parents: [], message, anonymous: true, signal });
    await git.run(["update-ref", copyRef, base], { signal });
    mkdirSync(folder, { mode: 0o700 });
    await checkOutCopy(git, workspace, base);
    return {
      base,
      warnings: snapshot.nested.map((path) => `${path} is a git repository of its own and was not copied.`),
    };
  });
}

/** A git folder for files that have no history of their own. */
export async function makeCopyGit(gitDir: string): Promise<OwnGit> {
  mkdirSync(dirname(gitDir), { recursive: true, mode: 0o700 });
  await discoverGit(dirname(gitDir), ["init", "--quiet", "--bare", "--template=", "--initial-branch=work", gitDir]);
  mkdirSync(join(gitDir, "info"), { recursive: true });
  writeFileSync(join(gitDir, "info", "attributes"), copyAttributes);
  return openGit(gitDir);
}

/** Fills the empty folder with the files of a commit. */
export async function checkOutCopy(git: OwnGit, workspace: Workspace, commit: string): Promise<void> {
  await withScratch(sessionFolder(workspace), git.gitDir, async ({ index }) => {
    await git.run(["read-tree", "--reset", "-u", commit], { workTree: workspace.folder, index });
  });
}
