// Compares two commits or trees by their contents alone: no attribute of a repository makes a text look like a binary file.

import { join } from "node:path";

import { readOptionalFile } from "../files/read-optional-file.ts";
import { copyAttributes } from "./folder-copy.ts";
import type { GitOutput, GitRun, OwnGit } from "./own-git.ts";

/** Two commits or trees. */
interface Ends {
  readonly base: string;
  readonly tip: string;
}

const plain = ["--no-ext-diff", "--no-textconv", "--ignore-submodules=none", "--no-color"];

/** A patch that applies with `git apply`, also for binary files. */
export function patchBetween(git: OwnGit, { base, tip }: Ends, options: GitRun): Promise<GitOutput> {
  const { args, more } = byContents(git, tip);
  return git.run(["diff-tree", "-p", "--binary", "--full-index", "-M", ...args, base, tip], { ...options, ...more });
}

/** What `changedFiles` reads. */
export function filesBetween(git: OwnGit, { base, tip }: Ends, options: GitRun): Promise<string[]> {
  const { args, more } = byContents(git, tip);
  return git.list(["diff-tree", "-r", "-z", "-M", "-l1000", "--raw", "--numstat", ...args, base, tip], {
    ...options,
    ...more,
  });
}

/** The changes of these paths for somebody to read: all as text. */
export function textBetween(
  git: OwnGit,
  { base, tip, paths }: Ends & { readonly paths: readonly string[] },
  options: GitRun,
): Promise<GitOutput> {
  const literal = paths.map((path) => `:(top,literal)${path}`);
  return git.run(["diff-tree", "-p", "--no-renames", "--text", ...plain, base, tip, "--", ...literal], options);
}

/** As no file: git then has no index. */
const noIndex = "/nonexistent/index";
/** A folder that has no files of anybody. */
const noFiles = "/dev";
/** The tree without entries, which git knows by itself, by the length of its id. */
const emptyTrees: Readonly<Record<number, string>> = {
  40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
  64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
};

/**
 * Git takes attributes from the index of the person's checkout, from the folder of the files, from a tree of the settings, and
 * from a file of the git folder. The last one cannot be switched off, so with it everything is text.
 */
function byContents(git: OwnGit, like: string): { readonly args: readonly string[]; readonly more: GitRun } {
  const own = readOptionalFile(join(git.gitDir, "info", "attributes")) ?? "";
  const emptyTree = emptyTrees[like.length];
  return {
    // Those of a copy are our own, and leave it to the contents what is binary.
    args: [...plain, ...(own !== copyAttributes && /diff|binary|\[attr\]/.test(own) ? ["--text"] : [])],
    more: {
      index: noIndex,
      workTree: noFiles,
      // Of git since 2.41.
      env: emptyTree === undefined ? {} : { GIT_ATTR_SOURCE: emptyTree },
    },
  };
}
