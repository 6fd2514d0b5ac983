// Removes the files of a workspace: its folder in one step, then what git and Tutti keep beside it.

import { existsSync, readFileSync, renameSync } from "node:fs";
import { readFile, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";

import { type Workspace, sessionFolder } from "./workspace-record.ts";

/** The folder that git keeps for the worktree inside the repository. It is named after the workspace. */
export function worktreeGitDir({ id, git_dir }: Pick<Workspace, "id" | "git_dir">): string {
  return join(git_dir ?? "", "worktrees", id);
}

/** Whether git's folder of that name is really the one of this workspace. */
export function isOwnWorktree(workspace: Workspace): boolean {
  try {
    return readFileSync(join(worktreeGitDir(workspace), "gitdir"), "utf8").trim() === join(workspace.folder, ".git");
  } catch {
    return false;
  }
}

function goneFolder({ folder }: Pick<Workspace, "folder">): string {
  return `${folder}.removed`;
}

/**
 * The folder is renamed before its files are removed, so a crash leaves either all of it in its place or none. Also finishes
 * a removal that was cut short. `keepHistory` keeps the git folder of a copy.
 */
export async function removeFiles(workspace: Workspace, keepHistory: boolean): Promise<void> {
  if (workspace.mode === "shared") return;
  const gone = goneFolder(workspace);
  if (existsSync(workspace.folder)) {
    await rm(gone, { recursive: true, force: true });
    renameSync(workspace.folder, gone);
  }
  if (workspace.mode === "worktree" && isOwnWorktree(workspace)) {
    await rm(worktreeGitDir(workspace), { recursive: true, force: true });
    // Git removes the folder with its last worktree, too.
    await rmdir(dirname(worktreeGitDir(workspace))).catch(() => undefined);
  }
  if (!keepHistory) await rm(sessionFolder(workspace), { recursive: true, force: true });
  await rm(gone, { recursive: true, force: true });
}

/** The content of the file `.git` of a worktree. */
export async function gitFileOf(folder: string): Promise<string | undefined> {
  const text = await readFile(join(folder, ".git"), "utf8").catch(() => undefined);
  return text?.trim();
}
