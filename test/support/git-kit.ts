// Real git repositories for tests, and what a person would miss if somebody changed theirs.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { type Cleanup, tempFolder } from "./temp-folder.ts";

export interface TestRepository {
  readonly folder: string;
  /** Git as the person would use it, with nothing of this machine's configuration. */
  readonly git: (...args: string[]) => string;
  readonly write: (path: string, content: string) => void;
  /** Writes the files and commits everything. Returns the commit. */
  readonly commit: (files: Readonly<Record<string, string>>, message?: string) => string;
}

/** On the branch `main`, with one commit of `a.txt`. */
export function testRepository(
  t: Cleanup,
  files: Readonly<Record<string, string>> = { "a.txt": "a\n" },
): TestRepository {
  const folder = tempFolder(t, "tutti-repository-");
  const repository = repositoryAt(folder);
  repository.git("init", "-q", "-b", "main");
  repository.git("config", "user.name", "Ada");
  repository.git("config", "user.email", "ada@example.com");
  repository.commit(files, "first");
  return repository;
}

export function repositoryAt(folder: string): TestRepository {
  const env = { PATH: process.env["PATH"], HOME: folder, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" };
  const git = (...args: string[]): string =>
    execFileSync("git", args, { cwd: folder, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
  const write = (path: string, content: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  return {
    folder,
    git,
    write,
    commit: (files, message = "change") => {
      for (const [path, content] of Object.entries(files)) write(path, content);
      git("add", "-A");
      git("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "-qm", message);
      return git("rev-parse", "HEAD");
    },
  };
}

/** Files (also the person's index, config and hooks), HEAD and branches: whatever must be as it was. */
export function personsThings({ folder, git }: TestRepository, ownBranch = /^refs\/(?:heads\/)?tutti\//): unknown {
  const refs = git("for-each-ref", "--format=%(refname) %(objectname)")
    .split("\n")
    .filter((line) => !ownBranch.test(line));
  const files: Record<string, string> = {};
  const walk = (path: string): void => {
    for (const name of readdirSync(join(folder, path)).toSorted()) {
      const below = join(path, name);
      if (/^\.git\/(?:objects|refs|logs|worktrees|packed-refs|ORIG_HEAD)$/.test(below)) continue;
      const found = lstatSync(join(folder, below));
      if (found.isDirectory()) walk(below);
      else if (found.isSymbolicLink()) files[below] = `link ${readlinkSync(join(folder, below))}`;
      else
        files[below] = createHash("sha256")
          .update(readFileSync(join(folder, below)))
          .digest("hex")
          .slice(0, 16);
    }
  };
  walk("");
  return { refs, files };
}
