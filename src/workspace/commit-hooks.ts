// Finds the person's commit hooks in the version that counts: their own files, or those of the commit that the work began with.

import { constants } from "node:fs";
import { access, mkdir, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";

import { copyFiles } from "./copy-files.ts";
import { openGit, type OwnGit } from "./own-git.ts";
import { withScratch } from "./scratch-store.ts";
import { sessionFolder, type Workspace } from "./workspace-record.ts";

/** In the order in which git runs them before it makes a commit. */
const hookNames = ["pre-commit", "prepare-commit-msg", "commit-msg"] as const;

export interface CommitHook {
  readonly name: (typeof hookNames)[number];
  readonly file: string;
}

export interface CommitHooks {
  readonly hooks: readonly CommitHook[];
  /** The hooks and what they may use beside them; a sandbox must be able to read it. */
  readonly folder: string;
  readonly identity: { readonly name: string; readonly email: string };
}

/** Undefined is passed on when there are none. The folder may be gone after the work. */
export async function withCommitHooks<T>(
  workspace: Workspace,
  work: (found: CommitHooks | undefined) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const { git_dir, mode } = workspace;
  if (mode !== "worktree" || git_dir === null) return work(undefined);
  const git = await openGit(git_dir, signal);
  const given = git.settings.hooksPath ?? join(git_dir, "hooks");
  const path = given.startsWith("~/") ? join(homedir(), given.slice(2)) : given;
  if (isAbsolute(path)) return work(await hooksIn(git, path, path));
  return withScratch(sessionFolder(workspace), git_dir, async (scratch) => {
    const folder = join(scratch.folder, "hooks");
    // Some hooks use files beside their folder, such as those of husky.
    const around = dirname(path) === "." ? path : dirname(path);
    await takeBase(workspace, { git, around, to: folder, signal });
    return work(await hooksIn(git, join(folder, path), join(folder, around)));
  });
}

async function hooksIn(git: OwnGit, path: string, folder: string): Promise<CommitHooks | undefined> {
  const hooks: CommitHook[] = [];
  for (const name of hookNames) {
    const file = join(path, name);
    const runs = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runs) hooks.push({ name, file });
  }
  return hooks.length === 0 ? undefined : { hooks, folder, identity: git.settings.identity };
}

interface Taking {
  readonly git: OwnGit;
  readonly around: string;
  readonly to: string;
  readonly signal: AbortSignal | undefined;
}

/**
 * The folder as the base has it, and not as the session left it. What git does not track there, such as helpers that a tool
 * installed, comes from the person's checkout.
 */
async function takeBase({ repository, base }: Workspace, { git, around, to, signal }: Taking): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  if (repository !== null) await copyFiles([around], repository, to);
  const entries = await git.list(["ls-tree", "-r", "-z", base ?? "", "--", `${around}/`], { signal });
  for (const entry of entries) {
    const [, mode = "", object = "", path = ""] = /^(\d+) blob ([0-9a-f]+)\t([^]*)$/.exec(entry) ?? [];
    // A link could lead to files of the session.
    if (mode !== "100644" && mode !== "100755") continue;
    const { stdout } = await git.run(["cat-file", "blob", object], { signal });
    await mkdir(dirname(join(to, path)), { recursive: true });
    await writeFile(join(to, path), stdout, { mode: mode === "100755" ? 0o700 : 0o600 });
  }
}
