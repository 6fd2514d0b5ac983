// Makes fresh checkouts of a commit or tree in a folder of Tutti's own, set up once and made anew for every run of a check.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { chmod, copyFile, mkdir, mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { errno } from "../core/errno.ts";
import { judgeRun } from "../core/check-outcome.ts";
import { ownEnvironment } from "../files/own-environment.ts";
import { argvLine } from "../protocol/argv-line.ts";
import { TuttiError } from "../protocol/error.ts";
import type { StartedCheck } from "../protocol/task/started-check.ts";
import { alternatesOf } from "../workspace/object-alternates.ts";
import type { ObjectStore, OwnGit } from "../workspace/own-git.ts";
import type { RunProgram } from "./check-program.ts";
import { innerFolder } from "./inner-folder.ts";

export interface SetupStep {
  readonly command: readonly [string, ...string[]];
  readonly network: boolean;
}

export interface CheckoutPlace {
  readonly git: OwnGit;
  /** Removed as a whole when the checks are done. */
  readonly folder: string;
  /** Where to find the objects of trees that only this verification has. */
  readonly objects: ObjectStore;
  /** Whether programs in the checkout find a git repository, as they do in a worktree. */
  readonly showGit: boolean;
  readonly setup: readonly SetupStep[];
  /** Where setup runs, relative to the top. */
  readonly project: string;
  readonly setupTimeoutMs: number;
  readonly runProgram: RunProgram;
  /** Called before each run, so that people see what is under way. */
  readonly onStart: (started: StartedCheck) => void;
  readonly signal: AbortSignal;
}

export interface FreshCheckout {
  /** Files of the tree, as git has them and after setup. Every call begins anew, so no run sees what another one left. */
  readonly fresh: () => Promise<string>;
  /** Folders that a program in it must be able to read. */
  readonly readable: readonly string[];
  /** A path for the home of one program. */
  readonly home: () => string;
}

export interface WantedTree {
  readonly tree: string;
  /** What HEAD names in the checkout. */
  readonly commit: string;
}

type CheckoutOutcome =
  | { readonly ready: true; readonly checkout: FreshCheckout }
  | { readonly ready: false; readonly reason: string };

/** The checkouts of one verification: one for each tree, made when it is needed first. */
export interface Checkouts {
  readonly place: CheckoutPlace;
  of(tree: WantedTree): Promise<CheckoutOutcome>;
  /** Removes it before the others. */
  done(tree: string): Promise<void>;
}

export function openCheckouts(place: CheckoutPlace): Checkouts {
  const made = new Map<string, Promise<CheckoutOutcome>>();
  return {
    place,
    of(wanted) {
      const known = made.get(wanted.tree);
      if (known !== undefined) return known;
      const making = makeCheckout(place, wanted);
      made.set(wanted.tree, making);
      return making;
    },
    async done(tree) {
      if (made.delete(tree)) await removeFolder(join(place.folder, tree));
    },
  };
}

const prefix = "check-";
const outputBytes = 64 * 1024;

/** A private folder for the checkouts of one verification, removed afterwards. `parent` must lie outside of the state folder. */
export async function withCheckFolder<T>(parent: string, work: (folder: string) => Promise<T>): Promise<T> {
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  const folder = await realpath(await mkdtemp(join(parent, prefix)));
  try {
    return await work(folder);
  } finally {
    await removeFolder(folder);
  }
}

/** Removes what verifications left that a crash cut off. Call it when no verification is under way. */
export async function removeCheckFolders(parent: string): Promise<void> {
  if (!existsSync(parent)) return;
  for (const name of await readdir(parent)) if (name.startsWith(prefix)) await removeFolder(join(parent, name));
}

/** Setup that fails is an outcome. */
async function makeCheckout(place: CheckoutPlace, { tree, commit }: WantedTree): Promise<CheckoutOutcome> {
  const { folder, setup, runProgram, signal, git } = place;
  const base = join(folder, tree);
  // The same path for every run, because setup may have written it into files.
  const [work, prepared] = [join(base, "work"), join(base, "prepared")];
  await mkdir(base, { mode: 0o700 });
  const stores = join(git.gitDir, "objects");
  const readable = place.showGit ? [stores, ...alternatesOf(stores)] : [];
  let homes = 0;
  const home = (): string => {
    homes += 1;
    return join(base, `home-${homes}`);
  };
  const plain = async (): Promise<string> => {
    await removeFolder(work);
    await checkOutTree(place, { tree, commit, work });
    return work;
  };
  for (const [index, { command, network }] of setup.entries()) {
    if (index === 0) await plain();
    const cwd = await innerFolder(work, place.project);
    if (cwd === undefined) return { ready: false, reason: `There is no folder ${place.project} in the checkout.` };
    place.onStart({ argv: [...command], on: "setup", number: index + 1, of: setup.length, again: false });
    const request = { argv: command, cwd, folder: work, home: home(), readable, network };
    const limits = { timeoutMs: place.setupTimeoutMs, maxOutputBytes: outputBytes };
    const run = judgeRun(await runProgram({ ...request, ...limits }, signal));
    // A summary of tests has no meaning here: only the exit status counts.
    if (run.exit_code !== 0) {
      const last = run.output_tail.trimEnd().split("\n").at(-1) ?? "";
      return { ready: false, reason: `Setup (${argvLine(command)}) failed. ${run.reason} ${last}`.trim() };
    }
  }
  if (setup.length > 0) await copyFolder(work, prepared, signal);
  const again = async (): Promise<string> => {
    await removeFolder(work);
    await copyFolder(prepared, work, signal);
    return work;
  };
  return {
    ready: true,
    checkout: { fresh: setup.length > 0 ? again : plain, readable, home },
  };
}

async function checkOutTree(
  place: CheckoutPlace,
  { tree, commit, work }: { readonly tree: string; readonly commit: string; readonly work: string },
): Promise<void> {
  const { git, objects, showGit, signal } = place;
  await mkdir(work, { mode: 0o700 });
  const index = `${work}.index`;
  await rm(index, { force: true });
  await git.run(["read-tree", "--reset", "-u", tree], { workTree: work, index, objects, signal });
  if (showGit) await makeGitFolder(place, { commit, work, index });
  await rm(index, { force: true });
}

/**
 * A repository of the checkout's own that borrows the objects of the real one, so that nothing a check does to it reaches the
 * person's repository: no branches, no configuration, no hooks.
 */
async function makeGitFolder(
  { git }: CheckoutPlace,
  { commit, work, index }: { readonly commit: string; readonly work: string; readonly index: string },
): Promise<void> {
  const folder = join(work, ".git");
  await mkdir(join(folder, "objects", "info"), { recursive: true });
  await mkdir(join(folder, "refs"));
  const sha256 = commit.length === 64 ? "\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = sha256\n" : "";
  await writeFile(join(folder, "config"), `[core]\n\tbare = false\n${sha256}`);
  await writeFile(join(folder, "HEAD"), `${commit}\n`);
  await writeFile(join(folder, "objects", "info", "alternates"), `${join(git.gitDir, "objects")}\n`);
  await copyFile(index, join(folder, "index"));
}

/** By the system's own program, because it also copies what a program may have left there besides files and folders. */
async function copyFolder(from: string, to: string, signal: AbortSignal): Promise<void> {
  const env = ownEnvironment();
  const child = spawn("cp", ["-RPp", from, to], { env, stdio: ["ignore", "ignore", "pipe"], signal });
  let told = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    told = (told + text).slice(-500);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code !== 0) throw new TuttiError("io", `a checkout that was set up cannot be copied: ${told.trim()}`);
}

/** Also where a program has taken away the right to remove what is in its folders, as some package managers do. */
async function removeFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch (thrown) {
    if (errno(thrown) !== "EACCES") throw thrown;
    await makeRemovable(folder);
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function makeRemovable(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await makeRemovable(join(folder, entry.name));
  }
}
