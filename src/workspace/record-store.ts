// Keeps the record of each workspace in a file of its own, which is on disk before anything is made or removed.

import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join, relative } from "node:path";

import { readPrivateFile, replacePrivateFile } from "../files/private-file.ts";
import { thrownMessage, TuttiError } from "../protocol/error.ts";
import { type Machine, Workspace, WorkspaceId } from "./workspace-record.ts";

export interface WorkspaceStore {
  /** The folder of the records. */
  readonly records: string;
  /** The folder that the workspaces are made in. */
  readonly root: string;
  /** The machine that the folders are on; absent where there is only one. */
  readonly machine?: Machine;
  /** Called between the steps of everything that a crash could cut in two. Tests stop there for ever. */
  readonly checkpoint?: (step: string) => Promise<void>;
}

export interface ReadRecords {
  readonly workspaces: readonly Workspace[];
  /** Records that cannot be read. They and their folders are left alone. */
  readonly unreadable: readonly { readonly file: string; readonly reason: string }[];
  /** Folders that no record tells of. */
  readonly unknown: readonly string[];
}

const ending = ".json";

/**
 * Workspaces lie beside the state folder by default, because nothing that works for a model may be inside of it. The
 * first workspace makes the folder. Call `recoverWorkspaces` before anything else.
 */
export function openWorkspaces(
  stateFolder: string,
  options: {
    readonly root?: string | undefined;
    readonly machine?: Machine | undefined;
    readonly checkpoint?: (step: string) => Promise<void>;
  } = {},
): WorkspaceStore {
  const records = join(stateFolder, "workspaces");
  const root = options.root ?? `${stateFolder}-workspaces`;
  mkdirSync(records, { recursive: true, mode: 0o700 });
  const { machine, checkpoint } = options;
  return {
    records,
    root,
    ...(machine === undefined ? {} : { machine }),
    ...(checkpoint === undefined ? {} : { checkpoint }),
  };
}

/** The folders that Tutti keeps its state and its workspaces in, relative to a folder that contains them. They are no work. */
export function ownFolders({ records, root }: WorkspaceStore, inside: string): string[] {
  return [dirname(records), root]
    .map((path) => relative(inside, path))
    .filter((path) => path !== "" && !path.startsWith(".."));
}

/** Private, since the folder lies outside of the state folder. */
export function makeRoot({ root }: WorkspaceStore): void {
  mkdirSync(root, { recursive: true, mode: 0o700 });
}

export function writeRecord(store: WorkspaceStore, workspace: Workspace): Workspace {
  replacePrivateFile(fileOf(store, workspace.id), `${JSON.stringify(workspace, null, 2)}\n`);
  return workspace;
}

export function forgetRecord(store: WorkspaceStore, id: WorkspaceId): void {
  rmSync(fileOf(store, id), { force: true });
}

/** Undefined when there is none. Throws when the file cannot be used. */
export function readRecord(store: WorkspaceStore, id: WorkspaceId): Workspace | undefined {
  const file = fileOf(store, id);
  const text = readPrivateFile(file);
  return text === undefined ? undefined : parseRecord(text, file);
}

export function requireRecord(store: WorkspaceStore, id: WorkspaceId): Workspace {
  const found = readRecord(store, id);
  if (found === undefined) throw new TuttiError("not_found", `there is no workspace ${id}`);
  return found;
}

export function readRecords(store: WorkspaceStore): ReadRecords {
  const workspaces: Workspace[] = [];
  const unreadable: { file: string; reason: string }[] = [];
  const names = readdirSync(store.records);
  for (const name of names.filter((each) => each.endsWith(ending))) {
    try {
      const found = readRecord(store, WorkspaceId.parse(name.slice(0, -ending.length)));
      if (found !== undefined) workspaces.push(found);
    } catch (thrown) {
      unreadable.push({ file: join(store.records, name), reason: thrownMessage(thrown) });
    }
  }
  const told = new Set([
    ...workspaces.flatMap(({ id }) => [id, `${id}.session`, `${id}.removed`]),
    ...unreadable.flatMap(({ file }) => {
      const id = file.slice(store.records.length + 1, -ending.length);
      return [id, `${id}.session`, `${id}.removed`];
    }),
  ]);
  const made = existsSync(store.root) ? readdirSync(store.root, { withFileTypes: true }) : [];
  const unknown = made
    .filter((entry) => entry.isDirectory() && entry.name.startsWith("wsp_") && !told.has(entry.name))
    .map((entry) => join(store.root, entry.name));
  return { workspaces: workspaces.toSorted((a, b) => a.created_at - b.created_at), unreadable, unknown };
}

function fileOf(store: WorkspaceStore, id: WorkspaceId): string {
  return join(store.records, `${WorkspaceId.parse(id)}${ending}`);
}

function parseRecord(text: string, file: string): Workspace {
  try {
    return Workspace.parse(JSON.parse(text));
  } catch (cause) {
    throw new TuttiError("corrupt", `${file} is not the record of a workspace; look at it and move it away`, { cause });
  }
}
