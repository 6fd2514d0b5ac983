// Lets only one process at a time change a file of the state folder; a process that dies leaves no lock behind.

import { DatabaseSync } from "node:sqlite";

import { ownFile } from "./own-file.ts";
import { storageError } from "./storage-error.ts";

/** A change takes milliseconds; whoever has to wait longer than this fails. */
const patienceMs = 10_000;

/** The lock is a transaction on a database at `path`, which holds nothing. `work` must not wait for anything. */
export function withShortLock<T>(path: string, work: () => T): T {
  let database: DatabaseSync | undefined;
  try {
    ownFile(path);
    database = new DatabaseSync(path, { timeout: patienceMs });
    database.exec("BEGIN IMMEDIATE");
  } catch (thrown) {
    database?.close();
    throw storageError(path, thrown);
  }
  try {
    return work();
  } finally {
    database.close();
  }
}
