// Runs the checks of work, and tells when sessions could have changed the programs that checks are started with by name.

import { lstat, readdir, realpath } from "node:fs/promises";
import { delimiter, dirname, join, sep } from "node:path";

import { withChangedPrograms } from "../../core/check-outcome.ts";
import { absoluteFolders } from "../../files/own-environment.ts";
import { type ChecksOutcome, type ChecksRequest, runChecks } from "../../verification/index.ts";
import { readRecords, type WorkspaceStore } from "../../workspace/index.ts";

/**
 * An active environment of Python or npm puts a folder of the person's project into the PATH. No commit has its files, so
 * no base version can take their place: where sessions work in that folder itself, only a person can say what a pass is worth.
 */
export async function runChecksOfWork(store: WorkspaceStore, request: ChecksRequest): Promise<ChecksOutcome> {
  const before = await changedPrograms(store, request.signal);
  // What such programs say of a base is not kept for others.
  const ran = await runChecks(before.length === 0 ? request : { ...request, cache: undefined });
  const changed = await changedPrograms(store, request.signal);
  return { ...ran, facts: ran.facts.map((fact) => withChangedPrograms(fact, changed)) };
}

/** So many files and folders are looked at; of a larger environment nobody can tell, so it counts as changed. */
const mostEntries = 500_000;
const mostNamed = 20;

interface SharedFolder {
  readonly folder: string;
  /** Since when sessions work in it. */
  readonly since: number;
}

/** Files of folders in the PATH, and of what these belong to, that are newer than the first session that could write there. */
async function changedPrograms(store: WorkspaceStore, signal: AbortSignal): Promise<string[]> {
  const shared = await sharedFolders(store);
  const found = new Set<string>();
  for (const named of absoluteFolders(process.env["PATH"] ?? "").split(delimiter)) {
    const real = await realpath(named).catch(() => named);
    for (const place of shared) {
      const steps = linksAbove(named, place.folder);
      if (steps.length === 0 && !isWithin(real, place.folder)) continue;
      for (const step of steps) if ((await markOf(step))?.isLink === true) await look(step, place.since, found);
      await walk(await environmentOf(real), place, { found, signal });
    }
  }
  return [...found];
}

/** Several sessions may have worked in the same folder. */
async function sharedFolders(store: WorkspaceStore): Promise<SharedFolder[]> {
  const { workspaces } = readRecords(store);
  const folders = workspaces.filter(({ mode, state }) => mode === "shared" && state !== "removed");
  return Promise.all(
    folders.map(async ({ folder, created_at }) => ({
      folder: await realpath(folder).catch(() => folder),
      since: created_at,
    })),
  );
}

async function walk(
  top: string,
  { folder, since }: SharedFolder,
  { found, signal }: { readonly found: Set<string>; readonly signal: AbortSignal },
): Promise<void> {
  const open = [top];
  const seen = new Set(open);
  for (const path of open) {
    signal.throwIfAborted();
    if (found.size >= mostNamed) return;
    if (seen.size > mostEntries) return void found.add(top);
    const mark = await look(path, since, found);
    const next = mark?.isFolder === true ? (await readdir(path)).map((name) => join(path, name)) : [];
    // A package that is a link into the same folder is loaded from there.
    const target = mark?.isLink === true ? await realpath(path).catch(() => undefined) : undefined;
    if (target !== undefined && isWithin(target, folder)) next.push(target);
    for (const each of next.filter((one) => !seen.has(one))) {
      seen.add(each);
      open.push(each);
    }
  }
}

interface Mark {
  readonly isFolder: boolean;
  readonly isLink: boolean;
  readonly changed: number;
}

/** The system alone sets the time of a change, whatever a program says of the other times. */
async function markOf(path: string): Promise<Mark | undefined> {
  const entry = await lstat(path).catch(() => undefined);
  return entry && { isFolder: entry.isDirectory(), isLink: entry.isSymbolicLink(), changed: entry.ctimeMs };
}

async function look(path: string, since: number, found: Set<string>): Promise<Mark | undefined> {
  const mark = await markOf(path);
  if (mark !== undefined && mark.changed >= since) found.add(path);
  return mark;
}

/** What a folder with programs belongs to: its environment of Python, or its outermost `node_modules`. */
async function environmentOf(folder: string): Promise<string> {
  const inner = `${sep}node_modules${sep}`;
  const at = `${folder}${sep}`.indexOf(inner);
  if (at !== -1) return folder.slice(0, at + inner.length - 1);
  const isPython = (await markOf(join(dirname(folder), "pyvenv.cfg"))) !== undefined;
  return isPython ? dirname(folder) : folder;
}

/** The path and the folders above it, up to the one that is shared; none when it is outside. */
function linksAbove(path: string, folder: string): string[] {
  const steps: string[] = [];
  for (let at = path; isWithin(at, folder) && at !== folder; at = dirname(at)) steps.push(at);
  return steps;
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === sep ? folder : `${folder}${sep}`);
}
