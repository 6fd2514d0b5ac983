// Makes the tree of an attempt in which the files of a check itself are those of the base.

import { noCommit } from "../workspace/find-repository.ts";
import type { ObjectStore, OwnGit } from "../workspace/own-git.ts";
import { withScratch } from "../workspace/scratch-store.ts";
import type { BaseTree } from "./anatomy/base-tree.ts";
import { isBesideTests, isManifest, isPartFile, projectText, rolesIn } from "./anatomy/changed-parts.ts";
import { type Anatomy, checkAnatomy, type CheckPlace } from "./anatomy/check-anatomy.ts";
import { fileKind, isCode } from "./anatomy/file-kinds.ts";
import { withMovedImports } from "./anatomy/moved-imports.ts";
import { isGoldenName } from "./anatomy/test-names.ts";
import { nameOf } from "./anatomy/tree-paths.ts";
import { readBaseTree } from "./read-base-tree.ts";

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
  /** What a reader has to know of how this was found out; empty for nothing. */
  readonly note: string;
  /** Whether a path of the base belongs to the check. */
  readonly isOwn: (path: string) => boolean;
  readonly measures: Measures;
}

/** What the base's check holds the work against. */
export interface Measures {
  /** Texts of its tests and scripts. */
  readonly texts: readonly string[];
  /** Data of the base that results are compared with. */
  readonly golden: readonly string[];
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

/** The same entries may be given for several checks. */
export async function baseFilesOf(
  files: TreeFiles,
  entries: readonly ChangedEntry[],
  check: CheckPlace,
): Promise<BaseFiles> {
  const parts = await partsOf(files, entries, check);
  const changed = parts.own.map(({ entry }) => entry.path);
  // A new test beside tests of the base is left out: what counts is what the base's tests say of the work.
  const replaced = [...parts.own, ...parts.besideTests.map((entry) => ({ entry, base: undefined }))];
  if (replaced.length === 0)
    return { changed, tree: undefined, note: parts.note, isOwn: parts.isOwn, measures: parts.measures };
  const lines = replaced.map(({ entry, base }) => indexLine(files, entry.path, base));
  return {
    changed: replaced.map(({ entry }) => entry.path),
    tree: await treeWith(files, files.attempt, lines),
    note: parts.note,
    isOwn: parts.isOwn,
    measures: parts.measures,
  };
}

/** The changed entries that the check is made of, and the tests that the session added. */
async function testEntriesOf(
  files: TreeFiles,
  entries: readonly ChangedEntry[],
  check: CheckPlace,
): Promise<ChangedEntry[]> {
  const { tests } = await partsOf(files, entries, check);
  return tests;
}

/** The base with only the tests and the parts of the check that the session changed or added; undefined when that is the base. */
export async function withoutWorkTree(
  files: TreeFiles,
  entries: readonly ChangedEntry[],
  check: CheckPlace,
): Promise<string | undefined> {
  const tests = await testEntriesOf(files, entries, check);
  if (tests.length === 0) return undefined;
  return treeWith(
    files,
    files.base,
    tests.map(({ path, after }) => indexLine(files, path, after)),
  );
}

interface Parts {
  /** With what takes the place of each; undefined for nothing. */
  readonly own: readonly { readonly entry: ChangedEntry; readonly base: ChangedEntry["before"] }[];
  readonly besideTests: readonly ChangedEntry[];
  readonly tests: ChangedEntry[];
  readonly note: string;
  readonly isOwn: (path: string) => boolean;
  readonly measures: Measures;
}

/** Trees of bases that were read, for as long as their verification lasts. */
const trees = new WeakMap<TreeFiles, Promise<BaseTree>>();

async function partsOf(files: TreeFiles, entries: readonly ChangedEntry[], check: CheckPlace): Promise<Parts> {
  if (entries.length === 0)
    return { own: [], besideTests: [], tests: [], note: "", isOwn: () => false, measures: { texts: [], golden: [] } };
  const known = trees.get(files) ?? readBaseTree(files, files.base);
  trees.set(files, known);
  const anatomy = checkAnatomy(await known, check);
  const roleOf = rolesIn(anatomy);
  const moved = movedFiles(entries, (path) => roleOf({ path, isAdded: false }) === "work");
  const own: { entry: ChangedEntry; base: ChangedEntry["before"] }[] = [];
  const added: ChangedEntry[] = [];
  const tests: ChangedEntry[] = [];
  for (const entry of entries) {
    const { path, before, after } = entry;
    if (isPartFile(path)) {
      const base = await mixedEntry(files, anatomy, entry);
      if (base !== after) own.push({ entry, base });
      if (base !== after || isManifest(path)) tests.push(entry);
      continue;
    }
    const role = roleOf({ path, isAdded: before === undefined });
    if (role === "check") own.push({ entry, base: await movedEntry(files, anatomy, entry, moved) });
    if (role === "new test") added.push(entry);
    if (role !== "work" || anatomy.followed.missing.has(path)) tests.push(entry);
  }
  const manifests = [...anatomy.tree.paths, ...entries.map(({ path }) => path)].filter(isManifest);
  const besideTests = added.filter(({ path }) => isBesideTests(anatomy, path, manifests));
  const note = anatomy.tree.isBeyond()
    ? "The base is too large to tell what the check is made of, so every file of it counts as the check's."
    : "";
  const isOwn = (path: string): boolean => anatomy.tree.has(path) && roleOf({ path, isAdded: false }) === "check";
  return { own, besideTests, tests, note, isOwn, measures: measuresOf(anatomy) };
}

function measuresOf({ tree, own, folders, followed }: Anatomy): Measures {
  const inFolders = [...folders].flatMap((folder) => tree.below(folder));
  const data = [...new Set([...own, ...inFolders])].filter((path) => !isCode(fileKind(path, tree.read(path))));
  return {
    texts: [...own].flatMap((path) => (isCode(fileKind(path, tree.read(path))) ? (tree.read(path) ?? []) : [])),
    golden: data.filter((path) => (isGoldenName(path) || followed.compared.has(path)) && tree.read(path) !== undefined),
  };
}

function indexLine({ base }: TreeFiles, path: string, entry: ChangedEntry["before"]): string {
  return entry === undefined ? `0 ${noCommit(base)}\t${path}` : `${entry.mode} ${entry.id}\t${path}`;
}

/** Deleted files that are work, with where they went. A test that comes along is still the base's. */
function movedFiles(entries: readonly ChangedEntry[], isWork: (path: string) => boolean): Map<string, string> {
  const added = entries.filter(({ before }) => before === undefined);
  const moved = new Map<string, string>();
  for (const { path, before, after } of entries) {
    if (before === undefined || after !== undefined || !isWork(path)) continue;
    const same = added.filter((entry) => entry.after?.id === before.id);
    const named = added.filter((entry) => nameOf(entry.path) === nameOf(path));
    const found = same.length === 1 ? same[0] : named.length === 1 ? named[0] : undefined;
    if (found !== undefined) moved.set(path, found.path);
  }
  return moved;
}

/** The base's file, which finds what it imports where the session moved it. */
async function movedEntry(
  { git, objects, signal }: TreeFiles,
  { tree }: Anatomy,
  { path, before }: ChangedEntry,
  moved: ReadonlyMap<string, string>,
): Promise<ChangedEntry["before"]> {
  const text = before?.mode.startsWith("100") === true ? withMovedImports(tree, path, moved) : undefined;
  if (before === undefined || text === undefined) return before;
  const id = await git.text(["hash-object", "-w", "--stdin", "--no-filters"], { objects, input: text, signal });
  return { mode: before.mode, id };
}

/** The session's file with the base's way to run checks. */
async function mixedEntry(
  files: TreeFiles,
  anatomy: Anatomy,
  { path, before, after }: ChangedEntry,
): Promise<ChangedEntry["after"]> {
  if (after === undefined) return before;
  if (before !== undefined && (!before.mode.startsWith("100") || !after.mode.startsWith("100"))) return before;
  const base = before === undefined ? undefined : await blobText(files, before.id);
  const mixed = projectText(anatomy, path, await blobText(files, after.id), base);
  if (mixed === undefined) return after;
  if (mixed === base) return before;
  if (mixed === "" && before === undefined) return undefined;
  const { git, objects, signal } = files;
  const id = await git.text(["hash-object", "-w", "--stdin", "--no-filters"], { objects, input: mixed, signal });
  return { mode: after.mode, id };
}

async function treeWith(
  { git, folder, objects, signal }: TreeFiles,
  from: string,
  lines: readonly string[],
): Promise<string> {
  return withScratch(folder, git.gitDir, async ({ index }) => {
    const options = { index, objects, signal };
    await git.run(["read-tree", from], options);
    const input = lines.map((line) => `${line}\0`).join("");
    await git.run(["update-index", "--replace", "-z", "--index-info"], { ...options, input });
    return git.text(["write-tree"], options);
  });
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
