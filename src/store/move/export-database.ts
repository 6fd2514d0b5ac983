// Brings all records of a database that nodes shared into a state folder, which an embedded Tutti goes on with.

import { closeSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync, SQLOutputValue } from "node:sqlite";

import type pg from "pg";

import { TuttiError } from "../../protocol/error.ts";
import { movedAwayError, movedKey, readMovedMark } from "../moved-mark.ts";
import { ownSalt, type Salt } from "../names.ts";
import { ask, type Row } from "../postgres/database-connection.ts";
import { databaseFile, makeFolder, movedMarkOf, openDatabase, openForReading } from "../sqlite/database.ts";
import { logRows, type MovedTable, movedKeyOf, serviceRows, treeRows } from "./moved-tables.ts";
import {
  countTrees,
  movedNames,
  movedSettings,
  movedSoFar,
  type MoveOptions,
  type MoveReport,
  overConnection,
  withoutNodes,
} from "./moving.ts";
import { numberRows } from "./number-rows.ts";

/** The database is built here and put in its place when it is whole. */
const partialFolder = (folder: string): string => join(folder, "export.partial");

/**
 * The caller holds the folder's lock. No node may be there, and none joins afterwards: unfinished work goes on in the folder,
 * and would be done twice if it went on in the database, too.
 */
export function exportDatabase(options: MoveOptions): Promise<MoveReport> {
  return overConnection(options.address, async (client) => {
    const [mark] = await ask(client, "SELECT value FROM meta WHERE key = $1", [movedKey]);
    if (mark !== undefined) return finish(options.folder, readMovedMark(String(mark["value"])).to);
    refuseUsed(options.folder);
    return exportFrom(client, options);
  });
}

/** A folder that was moved into a database may get its records back; the old ones are kept beside them. */
function refuseUsed(folder: string): void {
  if (!existsSync(databaseFile(folder))) return;
  const opened = openDatabase(folder, { moved: true });
  const mark = movedMarkOf(opened.database);
  opened.close();
  if (mark?.done === true) return;
  throw new TuttiError("conflict", `${folder} has records already; choose a folder that is empty or does not exist`);
}

/** The database says that everything was moved into the store with this salt: it is in place, or whole and waits for that. */
function finish(folder: string, salt: string): MoveReport {
  if (saltOfFolder(folder) === salt) return { existed: true, rows: 0, ...countTreesIn(folder) };
  if (saltOfFolder(partialFolder(folder)) !== salt) throw movedAwayError();
  putInPlace(folder);
  return { existed: false, rows: 0, ...countTreesIn(folder) };
}

function saltOfFolder(folder: string): string | undefined {
  if (!existsSync(databaseFile(folder))) return undefined;
  const { salt, close } = openForReading(folder);
  close();
  return ownSalt(salt);
}

function countTreesIn(folder: string): ReturnType<typeof countTrees> {
  const { database, close } = openForReading(folder);
  try {
    return countTrees(database);
  } finally {
    close();
  }
}

async function exportFrom(client: pg.Client, options: MoveOptions): Promise<MoveReport> {
  const { folder } = options;
  const partial = partialFolder(folder);
  rmSync(partial, { recursive: true, force: true });
  makeFolder(partial);
  // What was built stays when this fails: perhaps the database has kept that everything was moved into it.
  return withoutNodes(client, async (salt) => {
    // Events of a node that died may have no place in the sequence yet.
    await client.query("SELECT stamp()");
    await numberRows(client);
    const opened = openDatabase(partial);
    let rows = 0;
    try {
      rows = await copyAll({ ...options, client, database: opened.database, salt });
      opened.database.exec("PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)");
    } finally {
      opened.close();
    }
    sync(databaseFile(partial));
    await options.within?.(client, partial);
    const mark = { to: ownSalt(opened.salt), at: Date.now(), done: true };
    await ask(client, "INSERT INTO meta VALUES ($1, $2)", [movedKey, JSON.stringify(mark)]);
    await client.query("COMMIT");
    putInPlace(folder);
    return { existed: false, rows, ...countTreesIn(folder) };
  });
}

/** The records come last: as long as they are not there, this can be done again. */
function putInPlace(folder: string): void {
  const file = databaseFile(folder);
  const partial = partialFolder(folder);
  const others = readdirSync(partial).filter((name) => !join(partial, name).startsWith(databaseFile(partial)));
  for (const name of others) {
    const place = join(folder, name);
    if (existsSync(place)) {
      rmSync(`${place}.moved`, { recursive: true, force: true });
      renameSync(place, `${place}.moved`);
    }
    renameSync(join(partial, name), place);
  }
  if (existsSync(file)) renameSync(file, `${file}.moved`);
  for (const end of ["-wal", "-shm"]) rmSync(`${file}${end}`, { force: true });
  renameSync(databaseFile(partial), file);
  rmSync(partial, { recursive: true, force: true });
  sync(folder);
}

function sync(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

interface Copy extends MoveOptions {
  readonly client: pg.Client;
  readonly database: DatabaseSync;
  readonly salt: Salt;
}

async function copyAll(copy: Copy): Promise<number> {
  const { client, database, salt } = copy;
  // The file is of no use before it is whole, so nothing waits for the disk until then.
  database.exec("PRAGMA synchronous = OFF");
  const names = movedNames(salt);
  const tables = [...treeRows, logRows, ...serviceRows(`COALESCE((${sequenceOf("= of.until")}), of.until)`)];
  let of = 0;
  for (const { name } of tables) of += await countIn(client, name);
  const soFar = movedSoFar(copy, of);
  for (const table of tables) {
    await copyTable(copy, table, (group) => {
      for (const row of group) names.keep(table, row);
      soFar.told(group.length);
    });
  }
  await copySettings(client, database);
  const put = database.prepare("INSERT OR REPLACE INTO meta VALUES (?, ?)");
  for (const setting of names.settings()) put.run(...setting);
  // No sequence that a reader has seen is given to another event.
  const [last] = await ask(
    client,
    "SELECT GREATEST(max(now), (SELECT next - 1 FROM counter)) AS value FROM placed_log",
  );
  database.prepare("INSERT OR REPLACE INTO counters VALUES ('log', ?)").run(Number(last?.["value"] ?? 0));
  return soFar.rows;
}

const countIn = async (client: pg.Client, table: string): Promise<number> =>
  Number((await ask(client, `SELECT count(*) AS value FROM ${table}`))[0]?.["value"] ?? 0);

/** The new sequence of the last event whose old one fulfils the condition. */
const sequenceOf = (condition: string): string => `SELECT max(now) FROM placed_log WHERE seq ${condition}`;

const rowsAtOnce = 1_000;

async function copyTable(copy: Copy, table: MovedTable, told: (rows: Row[]) => void): Promise<void> {
  const { client, database } = copy;
  const names = table.columns.map(({ name }) => name);
  const marks = names.map(() => "?").join(", ");
  const insert = database.prepare(`INSERT INTO ${table.name} (${names.join(", ")}) VALUES (${marks})`);
  const isLog = table === logRows;
  await client.query(`DECLARE moving NO SCROLL CURSOR FOR ${table.select}`);
  for (;;) {
    const group = await ask(client, `FETCH ${rowsAtOnce} FROM moving`);
    if (group.length === 0) break;
    database.exec("BEGIN");
    for (const row of group) insert.run(...names.map((name) => valueOf(row, name, isLog)));
    database.exec("COMMIT");
    told(group);
  }
  await client.query("CLOSE moving");
}

function valueOf(row: Row, name: string, isLog: boolean): SQLOutputValue {
  if (isLog && name === "key") return movedKeyOf(String(row["key"]), Number(row["old"]), Number(row["id"]));
  return row[name] ?? null;
}

async function copySettings(client: pg.Client, database: DatabaseSync): Promise<void> {
  const put = database.prepare("INSERT INTO meta VALUES (?, ?)");
  const found = await ask(client, "SELECT key, value FROM meta WHERE key LIKE 'setting\\_%'");
  for (const { key, value, isPosition } of movedSettings(found)) {
    const [now] = isPosition ? await ask(client, sequenceOf("<= $1"), [value]) : [];
    put.run(key, isPosition ? String(now?.["max"] ?? 0) : value);
  }
}
