// Workspaces that were made on another machine: told apart from those that are here, and taken over where both machines share a disk.

import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

import { readPrivateFile, replacePrivateFile } from "../files/private-file.ts";
import { readRecord, type WorkspaceStore, writeRecord } from "./record-store.ts";
import { sessionFolder, type Workspace } from "./workspace-record.ts";

/** Lies beside the workspace, where its session cannot see it. */
const originFile = "origin";

function originOf({ id, machine, created_at }: Workspace): string {
  return `${JSON.stringify({ id, machine: machine?.id, created_at })}\n`;
}

/** Lets a machine that sees the same disk know that a folder of this path is this workspace and no other. */
export function markOrigin(workspace: Workspace): void {
  if (workspace.machine === undefined || workspace.mode === "shared") return;
  mkdirSync(sessionFolder(workspace), { recursive: true, mode: 0o700 });
  replacePrivateFile(join(sessionFolder(workspace), originFile), originOf(workspace));
}

/**
 * The workspace as it can be used here; undefined when it is on another machine. The same path here may be another
 * folder, so a workspace of another machine is used only if the folder carries its mark.
 */
export function workspaceHere(store: WorkspaceStore, workspace: Workspace): Workspace | undefined {
  const { machine } = store;
  if (machine === undefined || workspace.machine === undefined || workspace.machine.id === machine.id) return workspace;
  const taken = readRecord(store, workspace.id);
  if (taken !== undefined && taken.machine?.id === machine.id && taken.folder === workspace.folder) return taken;
  if (workspace.mode === "shared" || !carriesMark(workspace)) return undefined;
  const own = writeRecord(store, { ...workspace, machine });
  markOrigin(own);
  return own;
}

function carriesMark(workspace: Workspace): boolean {
  const { folder, git_dir } = workspace;
  if (!existsSync(folder) || git_dir === null || !existsSync(git_dir)) return false;
  try {
    return readPrivateFile(join(sessionFolder(workspace), originFile)) === originOf(workspace);
  } catch {
    // A file of somebody else is no mark of ours.
    return false;
  }
}
