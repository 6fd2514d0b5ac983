// Makes a git tree of the files in a folder as they are now, with an index of Tutti's own, so that no index is touched or believed.

import { lstat } from "node:fs/promises";
import { join } from "node:path";

import { TuttiError } from "../protocol/error.ts";
import { lfs } from "./git-settings.ts";
import type { Confine, GitRun, OwnGit } from "./own-git.ts";
import type { Scratch } from "./scratch-store.ts";

export interface SnapshotRequest {
  readonly git: OwnGit;
  readonly workTree: string;
  /** The commit or tree to compare with; an empty tree when absent. */
  readonly from: string | undefined;
  readonly scratch: Scratch;
  /** Paths that are not part of the work, such as a copied `.env`. */
  readonly exclude?: readonly string[];
  /** The changed files may have this many bytes together. */
  readonly maxBytes?: number;
  /** Runs the filters that the person configured. Without it, files that need one cannot be saved. */
  readonly confine?: Confine | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Snapshot {
  /** In the object store of the scratch folder. */
  readonly tree: string;
  /** Paths that differ from `from`. */
  readonly changed: readonly string[];
  /** Repositories inside the folder, whose files are not part of the snapshot. */
  readonly nested: readonly string[];
  /** Changed paths that Git LFS should hold and that are ordinary files in the snapshot. */
  readonly withoutLfs: readonly string[];
}

const submoduleMode = "160000";

export async function snapshotTree(request: SnapshotRequest): Promise<Snapshot> {
  const { git, workTree, from, scratch, exclude = [], confine, signal } = request;
  const options: GitRun = {
    workTree,
    index: scratch.index,
    objects: scratch.objects,
    signal,
    ...(confine === undefined ? {} : { confined: { confine, writable: [scratch.folder] } }),
  };
  await git.run(from === undefined ? ["read-tree", "--empty"] : ["read-tree", from], options);
  const excluded = exclude.map((path) => `--exclude=/${path.replaceAll(/[\\*?[\] !#]/g, String.raw`\$&`)}`);
  const listed = new Set(
    await git.list(
      ["ls-files", "-z", "--others", "--modified", "--deleted", "--exclude-standard", ...excluded],
      options,
    ),
  );
  const found = await sorted(listed, request);
  const withoutLfs = await needingFilters(found.files, request);
  if (found.replaced.length > 0) {
    const input = found.replaced.map((path) => `${path}\0`).join("");
    await git.run(["update-index", "--force-remove", "-z", "--stdin"], { ...options, input });
  }
  const input = found.files.map((path) => `${path}\0`).join("");
  await git.run(["update-index", "--add", "--remove", "--replace", "-z", "--stdin"], { ...options, input });
  const tree = await git.text(["write-tree"], options);
  return { tree, changed: [...found.replaced, ...found.files], nested: found.nested, withoutLfs };
}

interface Sorted {
  readonly files: readonly string[];
  /** Tracked files in whose place there is a folder now. */
  readonly replaced: readonly string[];
  readonly nested: readonly string[];
}

async function sorted(
  listed: ReadonlySet<string>,
  { git, workTree, scratch, maxBytes = Infinity, signal }: SnapshotRequest,
): Promise<Sorted> {
  const [files, folders, nested]: [string[], string[], string[]] = [[], [], []];
  let bytes = 0;
  for (const path of listed) {
    const stats = path.endsWith("/") ? undefined : await lstat(join(workTree, path)).catch(() => undefined);
    if (path.endsWith("/")) nested.push(path);
    else if (stats?.isDirectory() === true) folders.push(path);
    else files.push(path);
    bytes += stats?.size ?? 0;
    if (bytes > maxBytes) throw tooLarge(workTree, maxBytes);
  }
  if (folders.length === 0) return { files, replaced: [], nested };
  const entries = await git.list(["ls-files", "-z", "--stage"], { workTree, index: scratch.index, signal });
  const submodules = new Set(
    entries.filter((entry) => entry.startsWith(submoduleMode)).map((entry) => entry.slice(entry.indexOf("\t") + 1)),
  );
  return {
    files,
    replaced: folders.filter((path) => !submodules.has(path)),
    nested: [...nested, ...folders.filter((path) => submodules.has(path)).map((path) => `${path}/`)],
  };
}

function tooLarge(folder: string, maxBytes: number): TuttiError {
  return new TuttiError(
    "too_large",
    `${folder} has more than ${maxBytes} bytes of files that are new or changed, which is too much; remove those that are no work, or use the mode \`shared\``,
  );
}

/** The paths that Git LFS should hold. Throws when another filter is needed and nothing confines it. */
async function needingFilters(paths: readonly string[], request: SnapshotRequest): Promise<string[]> {
  const { git, workTree, scratch, confine, signal } = request;
  const configured = git.settings.filters;
  if (configured.length === 0 || paths.length === 0) return [];
  const told = await git.list(["check-attr", "-z", "--stdin", "filter"], {
    workTree,
    index: scratch.index,
    input: paths.map((path) => `${path}\0`).join(""),
    signal,
  });
  const held: string[] = [];
  for (let at = 0; at + 2 < told.length; at += 3) {
    const [path = "", , filter = ""] = told.slice(at, at + 3);
    if (filter === lfs) held.push(path);
    else if (configured.includes(filter) && confine === undefined) throw unconfinedFilter(filter, path);
  }
  return held;
}

export function unconfinedFilter(filter: string, path: string): TuttiError {
  return new TuttiError(
    "refused",
    `the file ${path} goes through the git filter "${filter}", a program that Tutti runs only confined, and nothing confines programs here; install bubblewrap, or use the mode \`shared\``,
    { details: { filter, path } },
  );
}
