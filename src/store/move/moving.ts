// What moving records into a shared database and out of it have in common: one transaction without nodes, names that stay, and progress.

import type { DatabaseSync } from "node:sqlite";

import type pg from "pg";

import { KeptNamesBuilder } from "../kept-names.ts";
import { given, keptNamesKey, type Salt, saltsOf } from "../names.ts";
import { connectTo, type DatabaseAddress, type Row } from "../postgres/database-connection.ts";
import { prepareDatabase } from "../postgres/database.ts";
import { storageError } from "../postgres/storage-error.ts";
import { isOfMachine, type MovedTable, noticePosition } from "./moved-tables.ts";
import { keepNodesOut, saltOfDatabase } from "./shared-database.ts";

interface MoveProgress {
  readonly rows: number;
  readonly of: number;
}

export interface MoveOptions {
  readonly folder: string;
  readonly address: DatabaseAddress;
  readonly onProgress?: (progress: MoveProgress) => void;
  readonly signal?: AbortSignal;
  /** What else belongs to the move, in its transaction. `made` is a folder whose files are put in place with the records. */
  readonly within?: (client: Pick<pg.ClientBase, "query">, made: string) => Promise<void>;
}

interface TreeCounts {
  readonly trees: number;
  readonly tasks: number;
  /** Trees that go on where the records are now. */
  readonly unfinished: number;
}

export interface MoveReport extends TreeCounts {
  /** Everything was moved before; nothing was done. */
  readonly existed: boolean;
  readonly rows: number;
}

/** Over a connection to the database, whose tables are those that this version knows. */
export async function overConnection<T>(address: DatabaseAddress, work: (client: pg.Client) => Promise<T>): Promise<T> {
  let client: pg.Client | undefined;
  try {
    client = await connectTo(address);
    await prepareDatabase(client, address.schema, { exact: true });
    return await work(client);
  } catch (thrown) {
    throw storageError(thrown);
  } finally {
    await client?.end().catch(() => undefined);
  }
}

/** In a transaction during which no node joins. `work` gets the salt of the database, and ends the transaction itself. */
export async function withoutNodes<T>(client: pg.Client, work: (there: Salt) => Promise<T>): Promise<T> {
  await client.query("BEGIN");
  try {
    await keepNodesOut(client);
    return await work(await saltOfDatabase(client));
  } catch (thrown) {
    await client.query("ROLLBACK").catch(() => undefined);
    throw thrown;
  }
}

export function countTrees(database: DatabaseSync): TreeCounts {
  const count = (sql: string): number => Number(database.prepare(sql).get()?.["value"] ?? 0);
  return {
    trees: count("SELECT COUNT(*) AS value FROM tasks WHERE id = root"),
    tasks: count("SELECT COUNT(*) AS value FROM tasks"),
    unfinished: count("SELECT COUNT(DISTINCT root) AS value FROM tasks JOIN open ON open.task = tasks.id"),
  };
}

export interface MovedNames {
  /** The row, as it was read, has another id now. Nothing is kept of rows that have no names. */
  keep(table: MovedTable, row: Row): void;
  /** The settings under which names are found that the stores before have given. */
  settings(): (readonly [key: string, value: string])[];
}

/** `salt`: of the store that the records come from. */
export function movedNames(salt: Salt): MovedNames {
  const names = new Map(saltsOf(salt).map((each) => [each, new KeptNamesBuilder()]));
  return {
    keep({ named }, row) {
      if (named === undefined) return;
      const name = given(salt, named, Number(row["old"]));
      names.get(name.salt)?.add(named, name.id, Number(row["id"]));
    },
    settings: () => [...names].map(([each, kept]) => [keptNamesKey(each), kept.text()] as const),
  };
}

export interface MovedSoFar {
  /** So many more rows are there. Throws when it is to stop. */
  told(rows: number): void;
  readonly rows: number;
}

/** `of`: how many rows there are in all. */
export function movedSoFar({ signal, onProgress }: MoveOptions, of: number): MovedSoFar {
  let rows = 0;
  return {
    get rows() {
      return rows;
    },
    told(more) {
      signal?.throwIfAborted();
      rows += more;
      onProgress?.({ rows, of });
    },
  };
}

export interface MovedSetting {
  readonly key: string;
  readonly value: string;
  /** The value is a sequence, which may be another one where it goes. */
  readonly isPosition: boolean;
}

/** Without those of one machine alone. `rows` are from `meta`. */
export function movedSettings(rows: readonly Row[]): MovedSetting[] {
  return rows
    .map((row) => ({ key: String(row["key"]), value: String(row["value"]) }))
    .filter(({ key }) => !isOfMachine(key))
    .map(({ key, value }) => ({ key, value, isPosition: key === noticePosition && /^\d+$/.test(value) }));
}
