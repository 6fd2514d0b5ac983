// One process per state folder: a lock the system takes back by itself when its owner dies.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { TuttiError } from "../../protocol/error.ts";
import { ownFile } from "./own-file.ts";
import { storageError } from "./storage-error.ts";

const sqliteBusy = 5;

/** A connection nobody refers to is closed by the garbage collector, and would take the lock with it. */
const locks = new Set<DatabaseSync>();

export interface Lock {
  release(): void;
}

/**
 * The lock is an exclusive transaction on a database of its own, so readers of the real one are never in the way, and
 * `kill -9` cannot leave it behind. Who holds it is written beside it, for the message only.
 */
export function takeLock(folder: string): Lock {
  const path = join(folder, "lock.db");
  const owner = join(folder, "owner.json");
  let database: DatabaseSync | undefined;
  try {
    ownFile(path);
    database = new DatabaseSync(path, { timeout: 0 });
    database.exec("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
    writeFileSync(owner, JSON.stringify({ pid: process.pid, since: new Date().toISOString() }), { mode: 0o600 });
  } catch (thrown) {
    database?.close();
    if (isBusy(thrown)) throw heldError(folder, owner, thrown);
    throw storageError(path, thrown);
  }
  const held = database;
  locks.add(held);
  return {
    release() {
      locks.delete(held);
      held.close();
    },
  };
}

function isBusy(thrown: unknown): boolean {
  return thrown instanceof Error && "errcode" in thrown && thrown.errcode === sqliteBusy;
}

function heldError(folder: string, owner: string, cause: unknown): TuttiError {
  let who = "another process";
  try {
    const text = readFileSync(owner, "utf8");
    const found: unknown = JSON.parse(text);
    if (typeof found === "object" && found !== null && "pid" in found && "since" in found) {
      who = `process ${String(found.pid)}, since ${String(found.since)}`;
    }
  } catch {
    // The owner may be writing the file just now; the lock itself is what counts.
  }
  return new TuttiError(
    "locked",
    `the state folder ${folder} is in use by ${who}; wait for it, end it, or choose another folder with --state`,
    { cause },
  );
}
