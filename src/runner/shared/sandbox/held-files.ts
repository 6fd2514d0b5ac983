// Takes protected files out of the workspace that appeared while a program ran, and puts them back if a person says so.

import { lstat, readdir, readlink, rm, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import type { HeldFile, HeldFiles, HeldReport, PutBack } from "../../../agent/tools/held-look.ts";
import { sha256 } from "../../../agent/tools/call-look.ts";
import { readOffLimits } from "../../../agent/workspace/off-limits.ts";
import { thrownMessage, TuttiError } from "../../../protocol/error.ts";
import { endProcesses, type ProcessNote } from "../process/end-processes.ts";
import { findProtected, mostFoldersAfter, type ProtectedFiles } from "./find-protected.ts";
import {
  folderOf,
  type HeldEntry,
  HeldRecord,
  readRecord,
  recordFile,
  Watch,
  watchFile,
  writeRecord,
} from "./held-record.ts";
import { filesIn, gitSettings, measure, showTexts } from "./held-tree.ts";
import { linkAgain, moveAside, moveBack, openUp, type Reach } from "./move-aside.ts";

/** What nobody agreed to is deleted after this time. */
const keptMs = 7 * 24 * 60 * 60_000;
/** Another program can add files while these are moved, so the look is repeated. */
const mostLooks = 5;
const mostListed = 100;
/** Characters of content that one question shows. */
const mostText = 24_000;

/** Where a state folder has them. */
export function heldFolder(state: string): string {
  return join(state, "held-files");
}

/** The call that made the files and the task that was resumed meanwhile may look at the same time. */
const holding = new Map<string, Promise<unknown>>();

export class HeldStore implements HeldFiles {
  readonly #top: string;
  readonly #hidden: readonly string[];
  /** What a person agreed to, by path: programs that run at that moment must not take it away again. */
  readonly #agreed = new Map<string, string>();

  /** `hidden`: folders that nothing of a workspace may reach, such as the state folder that `top` is in. */
  constructor(top: string, hidden: readonly string[]) {
    this.#top = top;
    this.#hidden = hidden;
  }

  isIn(outcome: unknown): boolean {
    return typeof outcome === "object" && outcome !== null && "protected_files_held" in outcome;
  }

  /** To be called before the program begins. With its process, recovery can end it before it looks. */
  async watch(
    step: string,
    before: ProtectedFiles,
    { roots, mayChange, process }: Pick<Watch, "roots" | "mayChange"> & { readonly process?: ProcessNote },
  ): Promise<void> {
    const [found, links, unreadable] = [before.found, before.links, before.unreadable].map((map) => [...map]);
    const watch = { step, roots, mayChange, process, found, links, unreadable };
    await writeRecord(folderOf(this.#top, step), watchFile, watch);
  }

  /** Looks for what appeared and moves it aside. All processes of the step must have ended. Returns the paths that are held. */
  hold(step: string): Promise<readonly string[]> {
    const folder = folderOf(this.#top, step);
    const earlier = holding.get(folder) ?? Promise.resolve();
    const held = earlier.catch(() => undefined).then(() => this.#hold(step, folder));
    holding.set(folder, held);
    const done = (): void => {
      if (holding.get(folder) === held) holding.delete(folder);
    };
    void held.then(done, done);
    return held;
  }

  async #hold(step: string, folder: string): Promise<readonly string[]> {
    const watch = await readRecord(folder, watchFile, Watch);
    const known = await readRecord(folder, recordFile, HeldRecord);
    if (watch === undefined) return known?.entries.map(({ path }) => path) ?? [];
    const record = known ?? { step, roots: watch.roots, planned: [], entries: [], returned: [], dropped: [], kept: [] };
    const reach = { roots: watch.roots, offLimits: readOffLimits(this.#hidden) };
    await addPlanned(folder, record);
    for (const away of record.kept.splice(0)) await bringHome(folder, { watch, record, reach }, away);
    let looks = 0;
    while (await this.#holdOnce(folder, { watch, record, reach })) {
      looks += 1;
      if (looks >= mostLooks) {
        throw new TuttiError("io", "new protected files appeared again and again while they were being moved aside");
      }
    }
    await this.#linkAgain({ watch, record, reach });
    const isEmpty = [record.entries, record.returned, record.dropped, record.kept].every(({ length }) => length === 0);
    if (isEmpty) await rm(folder, { recursive: true, force: true });
    else {
      await writeRecord(folder, recordFile, record);
      await rm(join(folder, watchFile), { force: true });
      await this.#forgetOld(Date.now());
    }
    return record.entries.map(({ path }) => path);
  }

  /** Whether something was found, so that another look is needed. */
  async #holdOnce(folder: string, { watch, record, reach }: Holding): Promise<boolean> {
    const after = await findProtected(watch.roots, reach.offLimits, mostFoldersAfter);
    const before = new Map(watch.found);
    const unreadable = new Map(watch.unreadable);
    const locked = [...after.unreadable].filter(([path, id]) => unreadable.get(path) !== id);
    for (const [path] of locked) await openUp(path, reach);
    const homes = new Map(watch.found.map(([path, id]) => [id, path]));
    const fresh: [string, string][] = [];
    // Sorted, since file systems list folders in different orders, and people compare what is reported.
    for (const [path, id] of [...after.found].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      if (before.get(path) === id || (watch.mayChange && (before.has(path) || homes.has(id)))) continue;
      if (!(await this.#isAgreed(path))) fresh.push([path, id]);
    }
    const isAway = ([, id]: [string, string]): boolean => {
      const home = homes.get(id);
      return home !== undefined && after.found.get(home) !== id;
    };
    // First what is new, so that there is room where the moved ones belong.
    const links = new Map(watch.links);
    for (const [found] of fresh.filter((one) => !isAway(one))) {
      const isBare = after.bare.has(found);
      // Without its HEAD, a folder is no repository. What else is in it may have been there before.
      const path = isBare ? join(found, "HEAD") : found;
      record.planned.push({ path, name: crypto.randomUUID(), isBare, link: links.get(found) });
    }
    if (record.planned.length > 0) await writeRecord(folder, recordFile, record);
    for (const { path, name } of record.planned) {
      await moveAside(path, join(folder, name), { ...reach, oddName: after.oddNames.get(path) });
    }
    await addPlanned(folder, record);
    for (const [path, id] of fresh.filter(isAway)) {
      await sendHome(folder, { watch, record, reach }, { path, home: homes.get(id) ?? path });
    }
    return fresh.length > 0 || locked.length > 0;
  }

  async #isAgreed(path: string): Promise<boolean> {
    const hash = this.#agreed.get(path);
    if (hash === undefined) return false;
    const now = await measure(path).catch(() => undefined);
    return now?.hash === hash;
  }

  /** A link cannot be mounted read-only, so a program can remove it. */
  async #linkAgain({ watch, record, reach }: Holding): Promise<void> {
    if (watch.mayChange) return;
    for (const [path, target] of watch.links) {
      if ((await lstat(path).catch(() => undefined)) !== undefined) continue;
      if (await linkAgain(path, target, reach)) record.returned.push(path);
    }
  }

  async report(step: string): Promise<HeldReport | undefined> {
    const folder = folderOf(this.#top, step);
    const watch = await readRecord(folder, watchFile, Watch);
    if (watch !== undefined) await this.#recoverOne(watch);
    const record = await readRecord(folder, recordFile, HeldRecord);
    if (record === undefined) return undefined;
    const { entries, returned, dropped } = record;
    const files: HeldFile[] = [];
    let room = mostText;
    for (const entry of entries.slice(0, mostListed)) {
      const { shown, unshown, room: left } = await showTexts(await textsOf(folder, entry), room);
      const { path, kind, bytes, files: count, hash } = entry;
      const rest = kind === "repository" ? Math.max(0, count - shown.length) : unshown;
      files.push({ path, kind, bytes, files: count, hash, shown, unshown: rest });
      room = left;
    }
    return { folder, hash: hashOf(entries), count: entries.length, files, returned, dropped };
  }

  async putBack(step: string, hash: string): Promise<PutBack> {
    const folder = folderOf(this.#top, step);
    const record = await readRecord(folder, recordFile, HeldRecord);
    if (record === undefined || hashOf(record.entries) !== hash) {
      throw new TuttiError(
        "conflict",
        "the held files are no longer those that a person agreed to; nothing was put back",
      );
    }
    const put_back: string[] = [];
    const not_put_back: { path: string; reason: string }[] = [];
    for (const entry of record.entries) {
      const reason = await this.#putOneBack(folder, entry, record.roots);
      if (reason === undefined) put_back.push(entry.path);
      else not_put_back.push({ path: entry.path, reason });
    }
    return { put_back, not_put_back };
  }

  async #putOneBack(folder: string, entry: HeldEntry, roots: readonly string[]): Promise<string | undefined> {
    const { path, name, hash, link } = entry;
    const from = join(folder, name);
    const inPlace = async (): Promise<boolean> => (await measureEntry(path, entry).catch(() => undefined)) === hash;
    // The process may have ended after the move and before that was recorded.
    if ((await lstat(from).catch(() => undefined)) === undefined) {
      return (await inPlace()) ? undefined : "it is no longer held";
    }
    if ((await measureEntry(from, entry)) !== hash) return "what would be put back is not what a person agreed to";
    if (link !== undefined && (await readlink(path).catch(() => undefined)) === link) await unlink(path);
    const reach = { roots, offLimits: readOffLimits(this.#hidden), make: false };
    const whole = await measure(from);
    this.#agree(path, whole.hash);
    const problem = await moveBack(from, path, reach);
    if (problem !== undefined) return problem;
    if (!(await inPlace())) {
      this.#agreed.delete(path);
      await rm(path, { recursive: true, force: true });
      return "it was changed while it was put back, so it was removed";
    }
    await rm(from, { recursive: true, force: true });
    return undefined;
  }

  #agree(path: string, hash: string): void {
    this.#agreed.set(path, hash);
    const [oldest] = this.#agreed.keys();
    if (this.#agreed.size > 1_000 && oldest !== undefined) this.#agreed.delete(oldest);
  }

  /** After a crash: holds what programs made that ran when the process ended, and deletes what is old. */
  async recover({ now, onProblem }: { readonly now: number; readonly onProblem: (message: string) => void }) {
    for (const name of await readdir(this.#top).catch(() => [])) {
      try {
        const watch = await readRecord(join(this.#top, name), watchFile, Watch);
        if (watch !== undefined) await this.#recoverOne(watch);
      } catch (thrown) {
        onProblem(thrownMessage(thrown));
      }
    }
    await this.#forgetOld(now);
  }

  async #forgetOld(now: number): Promise<void> {
    for (const name of await readdir(this.#top).catch(() => [])) {
      const folder = join(this.#top, name);
      try {
        if (now - (await lstat(folder)).mtimeMs < keptMs) continue;
        const isWatched = (await readRecord(folder, watchFile, Watch)) !== undefined;
        const record = await readRecord(folder, recordFile, HeldRecord);
        if (!isWatched && (record?.kept.length ?? 0) === 0) await rm(folder, { recursive: true, force: true });
      } catch {
        // A record that cannot be read may be all that tells where a file of the user belongs, so it stays.
      }
    }
  }

  async #recoverOne({ step, process }: Watch): Promise<void> {
    if (process !== undefined) await endProcesses(process);
    await this.hold(step);
  }
}

/** One look and what it works with. */
interface Holding {
  readonly watch: Watch;
  readonly record: HeldRecord;
  readonly reach: Reach;
}

/** Makes entries of what was moved; what had vanished before it could be moved is forgotten. */
async function addPlanned(folder: string, record: HeldRecord): Promise<void> {
  if (record.planned.length === 0) return;
  for (const { path, name, isBare, link } of record.planned.splice(0)) {
    const at = join(folder, name);
    const stats = await lstat(at).catch(() => undefined);
    if (stats === undefined) continue;
    const { bytes, files, dropped } = await measure(at, { claim: true });
    if (dropped > 0) record.dropped.push(path);
    if (!stats.isDirectory() && files === 0) continue;
    const kind = isBare ? "bare" : stats.isSymbolicLink() ? "link" : stats.isDirectory() ? folderKind(path) : "file";
    const entry = { path, name, kind, bytes, files, link } as const;
    record.entries.push({ ...entry, hash: await measureEntry(at, entry) });
  }
  await writeRecord(folder, recordFile, record);
}

function folderKind(path: string): "folder" | "repository" {
  return basename(path).toLowerCase() === ".git" ? "repository" : "folder";
}

/** A protected file of the user that the program moved: it goes back to where it was. */
async function sendHome(
  folder: string,
  holding: Holding,
  { path, home }: { readonly path: string; readonly home: string },
): Promise<void> {
  const away = { path: home, name: crypto.randomUUID() };
  const { record, reach } = holding;
  // Recorded first, so that nothing deletes it if the process ends now.
  await writeRecord(folder, recordFile, { ...record, kept: [...record.kept, away] });
  if (await moveAside(path, join(folder, away.name), reach)) await bringHome(folder, holding, away);
}

async function bringHome(folder: string, { record, reach }: Holding, away: HeldRecord["kept"][number]): Promise<void> {
  const { path: home, name } = away;
  const at = join(folder, name);
  if ((await lstat(at).catch(() => undefined)) === undefined) return;
  const problem = await moveBack(at, home, { ...reach, make: true });
  if (problem !== undefined) {
    await writeRecord(folder, recordFile, { ...record, kept: [...record.kept, away] });
    throw new TuttiError(
      "io",
      `a program moved ${home}, which is protected, and it cannot be put back: ${problem}; it is in ${at} now`,
      { details: { path: home } },
    );
  }
  await rm(at, { recursive: true, force: true });
  record.returned.push(home);
}

/** For the HEAD of a bare repository also what git would read beside it. */
async function measureEntry(at: string, { path, kind }: Pick<HeldEntry, "path" | "kind">): Promise<string> {
  const { hash } = await measure(at);
  if (kind !== "bare") return hash;
  const beside: string[] = [hash];
  for (const file of await gitSettings(dirname(path))) {
    if (file.name === "HEAD") continue;
    beside.push(file.name, (await measure(file.path).catch(() => undefined))?.hash ?? "");
  }
  return sha256(beside.join("\n"));
}

async function textsOf(folder: string, { path, name, kind }: HeldEntry) {
  const at = join(folder, name);
  if (kind === "bare") {
    const settings = await gitSettings(dirname(path));
    return present([{ path: at, name: "HEAD" }, ...settings.filter((file) => file.name !== "HEAD")]);
  }
  if (kind === "repository") return present(await gitSettings(at));
  return kind === "folder" ? filesIn(at) : [{ path: at, name: "" }];
}

async function present<T extends { readonly path: string }>(files: readonly T[]): Promise<T[]> {
  const found = await Promise.all(files.map(({ path }) => lstat(path).catch(() => undefined)));
  return files.filter((_, index) => found[index] !== undefined);
}

function hashOf(entries: readonly HeldEntry[]): string {
  return sha256(JSON.stringify(entries.map(({ path, hash }) => [path, hash])));
}
