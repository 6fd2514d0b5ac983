// Makes the tree of an attempt in which the files of a check itself are those of the base.

import { checkCommands } from "../core/check-commands.ts";
import { checkFiles } from "../core/check-files.ts";
import { emptyFile, isProjectFile, packageScripts, withBaseParts } from "../core/project-file.ts";
import { noCommit } from "../workspace/find-repository.ts";
import type { ObjectStore, OwnGit } from "../workspace/own-git.ts";
import { withScratch } from "../workspace/scratch-store.ts";
import type { SetupStep } from "./fresh-checkout.ts";

export interface ChangedEntry {
  readonly path: string;
  /** Mode and object id on the base; undefined when the session added the path. */
  readonly before: { readonly mode: string; readonly id: string } | undefined;
  readonly after: { readonly mode: string; readonly id: string } | undefined;
}

export interface TreeFiles {
  readonly git: OwnGit;
  /** A folder for files that are needed meanwhile. */
  readonly folder: string;
  readonly objects: ObjectStore;
  readonly attempt: string;
  readonly base: string;
  readonly signal: AbortSignal;
}

export interface BaseFiles {
  /** Paths of the check itself that the session changed. */
  readonly changed: readonly string[];
  /** A tree in the object store; undefined when nothing was changed. */
  readonly tree: string | undefined;
}

const mostFileBytes = 4 * 1024 * 1024;
const submodule = "160000";

/** What differs between the trees, with no guess at renames: a file that was moved is one deleted and one added. */
export async function changedEntries({ git, attempt, base, signal }: TreeFiles): Promise<ChangedEntry[]> {
  const told = await git.list(["diff-tree", "-r", "-z", "--no-renames", "--raw", "--no-abbrev", base, attempt], {
    signal,
  });
  const entries: ChangedEntry[] = [];
  for (let at = 0; at + 1 < told.length; at += 2) {
    const [oldMode = "", newMode = "", oldId = "", newId = ""] = (told[at] ?? "").slice(1).split(" ");
    entries.push({
      path: told[at + 1] ?? "",
      before: /^0+$/.test(oldMode) ? undefined : { mode: oldMode, id: oldId },
      after: /^0+$/.test(newMode) ? undefined : { mode: newMode, id: newId },
    });
  }
  return entries.filter(({ before, after }) => before?.mode !== submodule && after?.mode !== submodule);
}

interface CheckPlace {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly setup: readonly SetupStep[];
  /** Where setup runs. */
  readonly project: string;
}

/** The same entries may be given for several checks. */
export async function baseFilesOf(
  files: TreeFiles,
  entries: readonly ChangedEntry[],
  check: CheckPlace,
): Promise<BaseFiles> {
  const scripts = await allScripts(files, check.cwd);
  const commands = checkCommands(check.argv, scripts);
  const setup = check.setup.flatMap(({ command }) => checkCommands(command, scripts));
  const own = new Set(
    checkFiles(
      entries.map(({ path }) => path),
      { commands, setup, cwd: check.cwd, setupCwd: check.project },
    ),
  );
  const lines: string[] = [];
  const changed: string[] = [];
  for (const { path, before, after } of entries) {
    const entry = isProjectFile(path)
      ? await mixedEntry(files, { path, before, after })
      : own.has(path)
        ? before
        : after;
    if (entry === after) continue;
    changed.push(path);
    lines.push(entry === undefined ? `0 ${noCommit(files.base)}\t${path}` : `${entry.mode} ${entry.id}\t${path}`);
  }
  if (changed.length === 0) return { changed, tree: undefined };
  return { changed, tree: await treeWith(files, lines) };
}

/** The session's file with the base's way to run checks. One that the session added is its own if it says how to run any. */
async function mixedEntry(files: TreeFiles, { path, before, after }: ChangedEntry): Promise<ChangedEntry["after"]> {
  if (after === undefined) return before;
  if (before === undefined) {
    return withBaseParts(path, await blobText(files, after.id), emptyFile(path)) === undefined ? after : undefined;
  }
  if (!before.mode.startsWith("100") || !after.mode.startsWith("100")) return before;
  const mixed = withBaseParts(path, await blobText(files, after.id), await blobText(files, before.id));
  if (mixed === undefined) return after;
  const { git, objects, signal } = files;
  const id = await git.text(["hash-object", "-w", "--stdin", "--no-filters"], { objects, input: mixed, signal });
  return { mode: after.mode, id };
}

async function treeWith(
  { git, folder, objects, attempt, signal }: TreeFiles,
  lines: readonly string[],
): Promise<string> {
  return withScratch(folder, git.gitDir, async ({ index }) => {
    const options = { index, objects, signal };
    await git.run(["read-tree", attempt], options);
    const input = lines.map((line) => `${line}\0`).join("");
    await git.run(["update-index", "--replace", "-z", "--index-info"], { ...options, input });
    return git.text(["write-tree"], options);
  });
}

/** The scripts of the package in the folder and at the top, in both versions. */
async function allScripts(files: TreeFiles, cwd: string): Promise<Record<string, string>[]> {
  const paths = new Set(["package.json", ...(cwd === "." ? [] : [`${cwd.replace(/\/+$/, "")}/package.json`])]);
  const found: Record<string, string>[] = [];
  for (const tree of [files.base, files.attempt]) {
    for (const path of paths) found.push(packageScripts(await blobText(files, `${tree}:${path}`)));
  }
  return found;
}

/** Empty when there is no such file or it is too large to be one that a person wrote. */
async function blobText({ git, signal }: TreeFiles, id: string): Promise<string> {
  const found = await git.run(["cat-file", "blob", id], {
    expected: [128],
    maxBytes: mostFileBytes,
    overflow: "cut",
    signal,
  });
  return found.isCut || found.code !== 0 ? "" : found.stdout.toString("utf8");
}
