// Brings all records of a state folder into a database that nodes share, in one transaction: everything is there, or nothing is.

import type { DatabaseSync } from "node:sqlite";

import type pg from "pg";

import { TuttiError } from "../../protocol/error.ts";
import { type MovedMark, movedFolderError, movedKey } from "../moved-mark.ts";
import { ownSalt, type Salt, saltsOf } from "../names.ts";
import { bigint, int } from "../postgres/batch-columns.ts";
import { ask, type Row } from "../postgres/database-connection.ts";
import { isLostConnection } from "../postgres/storage-error.ts";
import { movedMarkOf, openDatabase } from "../sqlite/database.ts";
import { logRows, type MovedTable, movedKeyOf, serviceRows, treeRows } from "./moved-tables.ts";
import {
  countTrees,
  type MovedNames,
  movedNames,
  movedSettings,
  type MovedSoFar,
  movedSoFar,
  type MoveOptions,
  type MoveReport,
  overConnection,
  withoutNodes,
} from "./moving.ts";
import { placeImported } from "./place-imported.ts";
import { countNumbered, placeRows } from "./place-rows.ts";
import { groupsOf, putRows, type Values } from "./put-rows.ts";
import { reserveNumbers } from "./shared-database.ts";

/** The caller holds the folder's lock. No node may be there: what it knows of names and settings would be out of date. */
export async function importFolder(options: MoveOptions): Promise<MoveReport> {
  const { database, salt, close } = openDatabase(options.folder, { moved: true });
  try {
    return await overConnection(options.address, (client) => importInto(client, { ...options, database, salt }));
  } finally {
    close();
  }
}

interface Importing extends MoveOptions {
  readonly database: DatabaseSync;
  readonly salt: Salt;
}

function importInto(client: pg.Client, importing: Importing): Promise<MoveReport> {
  const { database, folder, salt } = importing;
  return withoutNodes(client, async (there) => {
    const mark = movedMarkOf(database);
    if (saltsOf(there).includes(ownSalt(salt))) {
      await client.query("ROLLBACK");
      setMark(database, { to: ownSalt(there), at: mark?.at ?? Date.now(), done: true });
      return { existed: true, rows: 0, ...countTrees(database) };
    }
    if (mark !== undefined && (mark.done || mark.to !== ownSalt(there))) throw movedFolderError(folder, mark);
    refuseMet(salt, there);
    const rows = await copyAll(client, importing);
    await importing.within?.(client, folder);
    // From here on nobody may go on with the folder, unless it is certain that the database did not keep this.
    setMark(database, { to: ownSalt(there), at: Date.now(), done: false });
    await commit(client, database);
    setMark(database, { to: ownSalt(there), at: Date.now(), done: true });
    return { existed: false, rows, ...countTrees(database) };
  });
}

/** Rows that both have, as when the folder was exported from this database. */
function refuseMet(salt: Salt, there: Salt): void {
  const both = saltsOf(salt).filter((each) => saltsOf(there).includes(each));
  if (both.length === 0) return;
  throw new TuttiError(
    "conflict",
    "the database already has tasks that are in this folder, too; bring the folder into an empty database, or choose another schema",
  );
}

async function commit(client: pg.Client, database: DatabaseSync): Promise<void> {
  try {
    await client.query("COMMIT");
  } catch (thrown) {
    if (!isLostConnection(thrown)) setMark(database, undefined);
    throw thrown;
  }
}

function setMark(database: DatabaseSync, mark: MovedMark | undefined): void {
  if (mark === undefined) database.prepare("DELETE FROM meta WHERE key = ?").run(movedKey);
  else database.prepare("INSERT OR REPLACE INTO meta VALUES (?, ?)").run(movedKey, JSON.stringify(mark));
}

async function copyAll(client: pg.Client, importing: Importing): Promise<number> {
  const { database, salt } = importing;
  const { trees, threads } = countNumbered(database);
  placeRows(database, await reserveNumbers(client, trees + threads));
  const [counter] = await ask(client, "SELECT next FROM counter FOR UPDATE");
  const of = [...treeRows, logRows, ...serviceRows("0")].reduce((sum, { name }) => sum + countOf(database, name), 0);
  const soFar = movedSoFar(importing, of);
  const names = movedNames(salt);
  const copy: Copy = { client, database, names, soFar, grownBy: Number(counter?.["next"]) - 1 };
  for (const table of treeRows) await copyTable(copy, table);
  await copyLog(copy);
  await client.query(
    `INSERT INTO trees (root, open) SELECT id, EXISTS (SELECT 1 FROM tasks t JOIN open o ON o.task = t.id WHERE t.root = tasks.id)
     FROM tasks WHERE parent IS NULL ON CONFLICT DO NOTHING`,
  );
  await placeImported(client);
  await client.query("UPDATE shared_version SET version = version + 1");
  for (const table of serviceRows(`of.until + ${copy.grownBy}`)) await copyTable(copy, table);
  await client.query(dropIncompleteOperators);
  await copySettings(copy);
  for (const setting of names.settings()) await ask(client, "INSERT INTO meta VALUES ($1, $2)", setting);
  // Every node reads all shared rows when it joins, and none is there.
  await client.query("DELETE FROM shared_changes");
  await client.query("ANALYZE tasks, log, runs, waits, open, batches");
  return soFar.rows;
}

interface Copy {
  readonly client: pg.Client;
  readonly database: DatabaseSync;
  readonly names: MovedNames;
  readonly soFar: MovedSoFar;
  /** By how much the sequence of each event is higher in the database. */
  readonly grownBy: number;
}

const countOf = (database: DatabaseSync, table: string): number =>
  Number(database.prepare(`SELECT COUNT(*) AS value FROM ${table}`).get()?.["value"] ?? 0);

async function copyTable({ client, database, names, soFar }: Copy, table: MovedTable): Promise<void> {
  const found = database.prepare(table.select).iterate();
  const rows = function* (): Generator<Values> {
    for (const row of found) {
      names.keep(table, row);
      yield table.columns.map(({ name }) => row[name] ?? null);
    }
  };
  for (const group of groupsOf(rows())) {
    await putRows(client, table, group);
    soFar.told(group.length);
  }
}

const placedLog = { ...logRows, columns: [...logRows.columns, bigint("batch"), int("place")] };

/**
 * Events keep their sequence, or all of them grow by the same amount when the database has events already. A line that is no
 * event has no batch. Its place is the one that it had among all lines, so that it can get it back.
 */
async function copyLog(copy: Copy): Promise<void> {
  const { client, database, grownBy } = copy;
  const rows = function* (): Generator<Values> {
    for (const row of database.prepare(logRows.select).iterate()) {
      const [old, now] = [Number(row["old"]), Number(row["id"])];
      const line: Row = { ...row, key: movedKeyOf(String(row["key"]), old, now) };
      yield [...logRows.columns.map(({ name }) => line[name] ?? null), old + grownBy];
    }
  };
  const typeAt = logRows.columns.findIndex(({ name }) => name === "type");
  const seqAt = logRows.columns.length;
  for (const group of groupsOf(rows())) {
    const events = group.filter((row) => row[typeAt] !== null).map((row) => Number(row[seqAt]));
    const [first = 0, last = 0] = [events[0], events.at(-1)];
    const batch = events.length === 0 ? null : await addBatch(client, first, last - first + 1);
    const lines = group.map((row): Values => {
      const seq = Number(row[seqAt]);
      if (row[typeAt] !== null) return [...row.slice(0, seqAt), batch, seq - first];
      return [...row.slice(0, seqAt), null, seq < 2 ** 31 ? seq : null];
    });
    await putRows(client, placedLog, lines);
    copy.soFar.told(group.length);
  }
  await ask(client, "UPDATE counter SET next = $1", [grownBy + lastSequence(database) + 1]);
}

function lastSequence(database: DatabaseSync): number {
  const sql = `SELECT MAX(IFNULL((SELECT MAX(id) FROM log), 0), IFNULL((SELECT last FROM counters WHERE name = 'log'), 0)) AS value`;
  return Number(database.prepare(sql).get()?.["value"] ?? 0);
}

/** Of no node; its events have their places already. */
async function addBatch(client: pg.Client, base: number, span: number): Promise<number> {
  const sql =
    "INSERT INTO batches VALUES (nextval(pg_get_serial_sequence('due_batches', 'id')), 0, $1, $2) RETURNING id";
  const [row] = await ask(client, sql, [span, base]);
  return Number(row?.["id"]);
}

/** An operator session whose name another one holds in the database. It joins anew. */
const dropIncompleteOperators = `
WITH gone AS (DELETE FROM operators o WHERE jsonb_array_length(o.roles::jsonb) >
  (SELECT count(*) FROM operator_roles r WHERE r.sid = o.sid) RETURNING sid)
DELETE FROM operator_roles WHERE sid IN (SELECT sid FROM gone)`;

async function copySettings({ client, database, grownBy }: Copy): Promise<void> {
  const found = database.prepare("SELECT key, value FROM meta WHERE key GLOB 'setting_*'").all();
  for (const { key, value, isPosition } of movedSettings(found)) {
    const grown = isPosition ? String(Number(value) + grownBy) : value;
    await ask(client, "INSERT INTO meta VALUES ($1, $2) ON CONFLICT DO NOTHING", [key, grown]);
    // What was told in the database is told; of the folder, what was told there.
    if (isPosition) {
      await ask(client, "UPDATE meta SET value = $2 WHERE key = $1 AND value = $3", [key, grown, String(grownBy)]);
    }
  }
}
