// Two kinds of kill: a real one of a child process, and what one would leave of a state folder that this process has open.

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";

import { databaseFile } from "../../src/store/sqlite/database.ts";
import { fencedAfterKill, fenceStoreIn, isOnPostgres } from "./stores.ts";
import { type Cleanup, tempFolder } from "./temp-folder.ts";

/** Resolves when the child has exited. */
export async function killChild(child: ChildProcess): Promise<void> {
  const exited = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined;
  child.kill("SIGKILL");
  await exited;
}

/** A copy of the files as they are now, without the writes that are still queued in this process. */
export function leftByKill(t: Cleanup, { folder }: { readonly folder: string }): string {
  const copy = tempFolder(t);
  if (isOnPostgres()) fenceStoreIn(folder, copy);
  const database = databaseFile(folder);
  const records = [
    [database, databaseFile(copy)],
    [`${database}-wal`, `${databaseFile(copy)}-wal`],
  ] as const;
  const files = [...(isOnPostgres() ? [] : records), [join(folder, "signing.key"), join(copy, "signing.key")] as const];
  for (const [from, to] of files) if (existsSync(from)) copyFileSync(from, to);
  return copy;
}

/** Ends `before` as a kill at this moment would, and opens another on the folder that is left. */
export async function reopenAfterKill<T extends { readonly folder: string; stop(): Promise<void> }>(
  t: Cleanup,
  before: T,
  open: (folder: string) => T | Promise<T>,
): Promise<T> {
  const folder = leftByKill(t, before);
  await fencedAfterKill(before.stop());
  return open(folder);
}
