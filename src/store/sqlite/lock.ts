// One process per state folder: a lock that is free again as soon as its owner dies.
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { TuttiError } from "../../protocol/error.ts";
import { holdFolder, type LockHolder } from "./lock-holder.ts";
import { ownFile } from "./own-file.ts";
import { storageError } from "./storage-error.ts";

const sqliteBusy = 5;

/** By device and inode of the folder. A connection nobody refers to would be closed by the garbage collector. */
const locks = new Map<string, DatabaseSync>();

export interface Lock {
  release(): void;
}

/**
 * The lock is an exclusive transaction on a database of its own, so readers of the real one are never in the way, and
 * `kill -9` cannot leave it behind. Closing any descriptor of that database in this process drops the transaction's
 * POSIX lock, so the folder is held in a second way that does not depend on descriptors. Both must be held.
 */
export function takeLock(folder: string): Lock {
  const path = join(folder, "lock.db");
  const owner = join(folder, "owner.json");
  let database: DatabaseSync | undefined;
  let holder: LockHolder | undefined;
  let identity: string | undefined;
  try {
    identity = identityOf(folder);
    // Even looking at the database again would open and close it, and so drop the lock that this process has.
    // A folder without the database is a new one, which the system gave the inode of one that was removed.
    if (identity !== undefined && locks.has(identity) && existsSync(path)) throw heldError(folder, owner, undefined);
    ownFile(path);
    database = new DatabaseSync(path, { timeout: 0 });
    database.exec("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
    holder = holdFolder(folder);
    if (holder === undefined) throw heldError(folder, owner, undefined);
    writeFileSync(owner, JSON.stringify({ pid: process.pid, since: new Date().toISOString() }), { mode: 0o600 });
  } catch (thrown) {
    holder?.release();
    database?.close();
    if (thrown instanceof TuttiError) throw thrown;
    if (isBusy(thrown)) throw heldError(folder, owner, thrown);
    throw storageError(path, thrown);
  }
  const held = { database, holder, identity: identity ?? folder };
  locks.set(held.identity, held.database);
  let released = false;
  return {
    release() {
      if (released) return;
      released = true;
      locks.delete(held.identity);
      held.holder.release();
      held.database.close();
    },
  };
}

function identityOf(folder: string): string | undefined {
  const found = statSync(folder, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev}:${found.ino}`;
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
