// Opens the database file of a state folder: settings, migrations, and clear words when it cannot be used.
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { TuttiError } from "../../protocol/error.ts";
import { type MovedMark, movedFolderError, movedKey, readMovedMark } from "../moved-mark.ts";
import { migrations } from "./schema.ts";
import { ownFile } from "./own-file.ts";
import { storageError } from "./storage-error.ts";
import { type Salt, saltIn } from "../names.ts";

export interface OpenedDatabase {
  readonly database: DatabaseSync;
  readonly path: string;
  /** Part of every name this store gives, so that names of two stores do not meet. */
  readonly salt: Salt;
  readonly close: () => void;
  /**
   * Called before a read of what belongs to trees: with an id of the one that is read, or without, when it may be any. The keys
   * that tasks were started under are always there.
   */
  readonly bringIn?: ((id?: number) => void) | undefined;
}

export const databaseFile = (folder: string): string => join(folder, "tutti.db");

/** Makes the folder for its owner alone. */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    throw new TuttiError(
      "read_only",
      `could not make the state folder ${folder}: ${message}; choose another with --state`,
      {
        cause: thrown,
      },
    );
  }
}

/** For writing; the caller holds the folder's lock. `moved`: also when everything in it was moved to another store. */
export function openDatabase(folder: string, { moved = false }: { readonly moved?: boolean } = {}): OpenedDatabase {
  const path = databaseFile(folder);
  let database: DatabaseSync | undefined;
  try {
    ownFile(path);
    database = new DatabaseSync(path, { timeout: 5_000 });
    // FULL: an acknowledged write survives power loss, at one sync per commit. A cache of 8 MB holds the pages that are being appended to.
    database.exec(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; PRAGMA cache_size = -8000",
    );
    migrate(database, path);
    const mark = movedMarkOf(database);
    if (mark !== undefined && !moved) throw movedFolderError(folder, mark);
    return { database, path, salt: saltOf(database), close: closing(database) };
  } catch (thrown) {
    database?.close();
    throw storageError(path, thrown);
  }
}

/** Nothing of it is ever on disk, and it is gone when it is closed. */
export function openInMemory(): OpenedDatabase {
  const path = "the state in memory";
  const database = new DatabaseSync(":memory:");
  migrate(database, path);
  return { database, path, salt: saltOf(database), close: closing(database) };
}

/** For looking only: takes no lock and never writes, so it works beside a running owner. */
export function openForReading(folder: string): OpenedDatabase {
  const path = databaseFile(folder);
  if (!existsSync(path)) {
    throw new TuttiError(
      "not_found",
      `there is no state in ${folder}; run \`tutti invoke\` first, or choose another with --state`,
    );
  }
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
    refuseOther(database, path);
    return { database, path, salt: saltOf(database), close: closing(database) };
  } catch (thrown) {
    database?.close();
    throw storageError(path, thrown);
  }
}

function migrate(database: DatabaseSync, path: string): void {
  refuseNewer(database, path);
  refuseForeign(database, path);
  for (let version = versionOf(database); version < migrations.length; version += 1) {
    const sql = migrations[version] ?? "";
    database.exec(`BEGIN IMMEDIATE; ${sql}; PRAGMA user_version = ${version + 1}; COMMIT`);
  }
  database.prepare("INSERT OR IGNORE INTO meta (key, value) VALUES ('salt', ?)").run(randomBytes(5).toString("hex"));
}

/** Somebody else's tables in a file of our name: nothing of ours is put among them. */
function refuseForeign(database: DatabaseSync, path: string): void {
  const used = database.prepare("SELECT 1 FROM sqlite_master LIMIT 1").get() !== undefined;
  if (versionOf(database) > 0 || !used) return;
  throw new TuttiError(
    "corrupt",
    `${path} is a database of something else; move it away, or choose another folder with --state`,
  );
}

function refuseNewer(database: DatabaseSync, path: string): void {
  if (versionOf(database) <= migrations.length) return;
  throw new TuttiError(
    "newer",
    `${path} was written by a newer Tutti; update this one, or choose another folder with --state`,
  );
}

function refuseOther(database: DatabaseSync, path: string): void {
  refuseNewer(database, path);
  if (versionOf(database) < migrations.length) {
    throw new TuttiError(
      "conflict",
      `${path} was written by an older Tutti; start a command that writes once to bring it up to date`,
    );
  }
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);
}

function saltOf(database: DatabaseSync): Salt {
  const rows = database.prepare("SELECT key, value FROM meta WHERE key = 'salt' OR key GLOB 'names_*'").all();
  return saltIn(rows.map((row) => ({ key: String(row["key"]), value: String(row["value"]) })));
}

export function movedMarkOf(database: DatabaseSync): MovedMark | undefined {
  const found = database.prepare("SELECT value FROM meta WHERE key = ?").get(movedKey)?.["value"];
  return typeof found === "string" ? readMovedMark(found) : undefined;
}

function closing(database: DatabaseSync): () => void {
  return () => {
    if (database.isOpen) database.close();
  };
}
