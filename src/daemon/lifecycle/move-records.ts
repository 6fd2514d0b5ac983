// Moves the records of a state folder into a database that nodes share, and back, while nobody works on either.

import { existsSync, renameSync } from "node:fs";

import type { GivenDatabase, Moved, MoveProgress } from "../../host/host.ts";
import { TuttiError } from "../../protocol/error.ts";
import { cleanUp } from "../../runner/shared/process/clean-up.ts";
import { refuseSharedFolder } from "../../files/private-folder.ts";
import { exportDatabase } from "../../store/move/export-database.ts";
import { importFolder } from "../../store/move/import-folder.ts";
import { databaseFile, makeFolder, movedMarkOf, openDatabase } from "../../store/sqlite/database.ts";
import { takeLock } from "../../store/sqlite/lock.ts";
import { storeOver } from "../../store/sqlite/sqlite-store.ts";
import { exportDocuments, importDocuments } from "../documents/move-documents.ts";
import { removeInsight } from "../insight/insight-database.ts";
import { databaseFor, nodeFile } from "../state/node-settings.ts";

type OnProgress = (progress: MoveProgress) => void;

export async function importRecords(folder: string, given: GivenDatabase, onProgress: OnProgress): Promise<Moved> {
  if (!existsSync(databaseFile(folder))) {
    throw new TuttiError("not_found", `there are no records in ${folder}; name a state folder, such as ~/.tutti`);
  }
  // Its tasks go on, its keys and agreements count, and the processes that it names are ended.
  refuseSharedFolder(folder);
  const address = databaseFor(folder, given);
  const place = { folder, file: given.keyFile };
  const lock = takeLock(folder);
  let notes: readonly string[] = [];
  try {
    await endLeftovers(folder);
    const moved = await importFolder({
      folder,
      address,
      onProgress,
      async within(client) {
        notes = await importDocuments(client, place);
      },
    });
    return { ...moved, notes };
  } finally {
    lock.release();
  }
}

/** They are processes of this machine, and whoever goes on with their tasks may be on another one. */
async function endLeftovers(folder: string): Promise<void> {
  const opened = openDatabase(folder, { moved: true });
  const store = storeOver(opened);
  try {
    if (movedMarkOf(opened.database) !== undefined) return;
    for (const root of store.unfinishedTrees()) {
      for (const note of store.openNotes(root)) await cleanUp(JSON.parse(note));
    }
  } finally {
    store.close();
  }
}

export async function exportRecords(folder: string, given: GivenDatabase, onProgress: OnProgress): Promise<Moved> {
  const address = databaseFor(folder, given);
  const place = { folder, file: given.keyFile };
  refuseSharedFolder(folder);
  makeFolder(folder);
  const lock = takeLock(folder);
  let notes: readonly string[] = [];
  try {
    const moved = await exportDatabase({
      folder,
      address,
      onProgress,
      async within(client, made) {
        notes = await exportDocuments(client, place, made);
      },
    });
    // It was made of other events.
    removeInsight(folder);
    // A folder that was a node's keeps its own records from now on.
    if (existsSync(nodeFile(folder))) renameSync(nodeFile(folder), `${nodeFile(folder)}.moved`);
    return { ...moved, notes };
  } finally {
    lock.release();
  }
}
