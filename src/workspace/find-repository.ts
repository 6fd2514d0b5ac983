// Finds the git repository of a person's folder, once, before a workspace is made; from then on the noted git folder is used.

import { realpath } from "node:fs/promises";
import { resolve } from "node:path";

import { errno } from "../core/errno.ts";
import { TuttiError } from "../protocol/error.ts";
import { discoverGit, openGit, type OwnGit } from "./own-git.ts";

export interface Repository {
  /** The top of the checkout that the folder is in. */
  readonly top: string;
  /** The git folder of this checkout: the one that has its HEAD and its index. */
  readonly checkoutGitDir: string;
  readonly git: OwnGit;
}

/** Undefined when the folder is in no git repository. Throws when it is in one that workspaces cannot be made of. */
export async function findRepository(folder: string, signal?: AbortSignal): Promise<Repository | undefined> {
  const real = await realFolder(folder);
  const { code, stdout, stderr } = await discoverGit(
    real,
    ["rev-parse", "--is-bare-repository", "--git-common-dir", "--absolute-git-dir"],
    { expected: [128], signal },
  );
  if (code !== 0) {
    if (/not a git repository/i.test(stderr)) return undefined;
    const why = /dubious ownership/i.test(stderr)
      ? "belongs to another user; if you trust it, add it to git's `safe.directory`"
      : `cannot be read by git: ${stderr.trim().split("\n")[0] ?? ""}`;
    throw new TuttiError("refused", `the repository of ${real} ${why}`);
  }
  const [isBare, common = "", own = ""] = stdout.toString("utf8").split("\n");
  if (isBare === "true") {
    throw new TuttiError("refused", `${real} is a bare repository, which has no checkout; name a checkout of it`);
  }
  const top = (await discoverGit(real, ["rev-parse", "--show-toplevel"], { signal, expected: [128] })).stdout
    .toString("utf8")
    .trimEnd();
  if (top === "") throw new TuttiError("refused", `${real} is inside of a git folder; name the checkout itself`);
  const git = await openGit(await realpath(resolve(real, common)), signal);
  if (git.settings.unsupported !== undefined) {
    throw new TuttiError(
      "refused",
      `no workspace can be made of ${top}: the repository ${git.settings.unsupported}; or use the mode \`copy\` or \`shared\``,
    );
  }
  return { top, checkoutGitDir: await realpath(own), git };
}

/** The top of the checkout that the folder is in; undefined when it is in none, or in one that cannot be used. */
export async function repositoryTop(folder: string): Promise<string | undefined> {
  return (await findRepository(folder).catch(() => undefined))?.top;
}

/** The commit that HEAD of the checkout names. */
export async function headCommit({ git, checkoutGitDir, top }: Repository, signal?: AbortSignal): Promise<string> {
  const found = await git.run(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], {
    gitDir: checkoutGitDir,
    expected: [1, 128],
    signal,
  });
  const commit = found.stdout.toString("utf8").trim();
  if (commit !== "") return commit;
  throw new TuttiError(
    "refused",
    `the repository ${top} has no commit yet; make a first commit, or use the mode \`copy\``,
  );
}

/** A full id of a commit of this repository. Throws when the name means no commit. */
export async function resolveCommit(git: OwnGit, name: string, signal?: AbortSignal): Promise<string> {
  const found = await git.run(["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`], {
    expected: [1, 128],
    signal,
  });
  const commit = found.stdout.toString("utf8").trim();
  if (isObjectId(commit)) return commit;
  throw new TuttiError("not_found", `there is no commit ${JSON.stringify(name)} in ${git.gitDir}`);
}

/** Whether the repository has this commit. */
export async function hasCommit(
  { git }: Pick<Repository, "git">,
  commit: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const args = ["cat-file", "-e", "--end-of-options", `${commit}^{commit}`];
  return (await git.run(args, { expected: [1, 128], signal })).code === 0;
}

/** The commit that a ref names, by its full name; undefined when there is no such ref. */
export async function readRef(git: OwnGit, ref: string, signal?: AbortSignal): Promise<string | undefined> {
  const { stdout } = await git.run(["for-each-ref", "--format=%(refname) %(objectname)", ref], { signal });
  const line = stdout
    .toString("utf8")
    .split("\n")
    .find((each) => each.startsWith(`${ref} `));
  return line?.slice(ref.length + 1);
}

export function isObjectId(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

/** What git takes for "no commit" as the old value of a ref. */
export function noCommit(like: string): string {
  return "0".repeat(like.length);
}

async function realFolder(folder: string): Promise<string> {
  try {
    return await realpath(folder);
  } catch (cause) {
    throw new TuttiError("not_found", `the folder ${folder} cannot be opened: ${errno(cause) ?? String(cause)}`, {
      cause,
    });
  }
}
