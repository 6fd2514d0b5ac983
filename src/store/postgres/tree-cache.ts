// The local copy of the trees that this node owns and of all shared rows: what the engine reads at once, never ahead of the database.

import { rmSync } from "node:fs";
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

import { writes as statements } from "../sqlite/writes.ts";
import { databaseFile, makeFolder, openDatabase, type OpenedDatabase } from "../sqlite/database.ts";
import type { Write } from "./batch-rows.ts";
import type { Row } from "./database-connection.ts";
import { documentsCacheSql } from "./documents-sql.ts";
import { DocumentRow } from "./shared-documents.ts";
import { sharedTables } from "./shared-sql.ts";
import type { SharedChange } from "./shared-rows.ts";
import { type LoadedTrees, treeTables } from "./load-trees.ts";
import { treeOf, treeUnit } from "./tree-ids.ts";
import { treeOfWrite, WaitingWrites } from "./waiting-writes.ts";
import type { Salt } from "../names.ts";

export interface TreeCache {
  readonly opened: OpenedDatabase;
  /**
   * Takes what a batch wrote about trees, once it is durable, and brings in shared rows that changed until then. What is about
   * trees is brought in when it is read, or when much of it waits.
   */
  apply(writes: readonly Write[], changes: readonly SharedChange[]): void;
  /** Takes the place of whatever is there of these trees. */
  load(trees: LoadedTrees): void;
  forget(roots: readonly number[]): void;
  /** A key that was found in the database, and the root task that it is bound to. */
  putKey(key: Row, task: Row | undefined): void;
  document(name: string): DocumentRow | undefined;
}

/**
 * The folder holds nothing else. It is emptied first: what a process before this one left is not to be relied on. `onBroken`:
 * what is durable could not be brought in, so nothing that is read here can be relied on any more.
 */
export function openTreeCache(folder: string, salt: Salt, onBroken?: (thrown: unknown) => void): TreeCache {
  makeFolder(folder);
  for (const end of ["", "-wal", "-shm"]) rmSync(`${databaseFile(folder)}${end}`, { force: true });
  const opened = openDatabase(folder);
  const { database } = opened;
  // It can be made anew at any time, so nothing waits for the disk.
  database.exec("PRAGMA synchronous = OFF");
  database.exec(documentsCacheSql);
  const shared = sharedStatements(database);
  const perform = new Map(Object.entries(statements).map(([name, sql]) => [name, database.prepare(sql)]));
  const loading = new Map(treeTables.map((table) => [table.name, insertInto(database, table.name, table.columns)]));
  const dropping = treeTables.map(({ name, tree }) =>
    database.prepare(`DELETE FROM ${name} WHERE ${tree} >= ? AND ${tree} < ?`),
  );
  const putKey = insertInto(database, "keys", ["key", "task", "content"]);
  const putTask = insertInto(database, "tasks", treeTables.find(({ name }) => name === "tasks")?.columns ?? []);
  const together = (work: () => void): void => {
    database.exec("BEGIN");
    try {
      work();
      database.exec("COMMIT");
    } catch (thrown) {
      database.exec("ROLLBACK");
      throw thrown;
    }
  };
  const waiting = new WaitingWrites();
  /** Trees that have rows in the database of the cache. */
  const present = new Set<number>();
  const drop = (roots: readonly number[]): void => {
    for (const root of roots) {
      const tree = treeOf(root);
      waiting.drop(tree);
      if (present.delete(tree)) for (const each of dropping) each.run(root - 1, root - 1 + treeUnit);
    }
  };
  const bringInTrees = (trees: readonly number[]): void => {
    if (trees.length === 0) return;
    try {
      together(() => {
        for (const tree of trees) {
          present.add(tree);
          for (const { name, values } of waiting.writesOf(tree)) perform.get(name)?.get(...values);
        }
      });
    } catch (thrown) {
      onBroken?.(thrown);
      throw thrown;
    }
    for (const tree of trees) waiting.drop(tree);
  };
  const bringIn = (id?: number): void => {
    if (id === undefined) bringInTrees(waiting.trees());
    else if (waiting.has(treeOf(id))) bringInTrees([treeOf(id)]);
  };
  const document = database.prepare("SELECT * FROM documents WHERE name = ?");
  return {
    opened: { ...opened, salt, bringIn },
    document(name) {
      const row = document.get(name);
      return row === undefined ? undefined : DocumentRow.parse(row);
    },
    apply(writes, changes) {
      const keys = writes.filter(({ name }) => name === "bindKey");
      if (keys.length > 0 || changes.length > 0) {
        together(() => {
          for (const write of keys) {
            present.add(treeOfWrite(write));
            perform.get(write.name)?.get(...write.values);
          }
          for (const change of changes) applyChange(shared, change);
        });
      }
      for (const write of writes) if (write.name !== "bindKey") waiting.add(write);
      bringInTrees(waiting.tooMany());
    },
    load({ roots, rows }) {
      together(() => {
        drop(roots);
        for (const root of roots) present.add(treeOf(root));
        for (const { name, columns } of treeTables) {
          const statement = loading.get(name);
          for (const row of rows[name] ?? []) statement?.get(...columns.map((_, at) => row[at] ?? null));
        }
      });
    },
    forget: (roots) => together(() => drop(roots)),
    putKey(key, task) {
      together(() => {
        putKey.get(...["key", "task", "content"].map((name) => key[name] ?? null));
        present.add(treeOf(Number(key["task"])));
        const columns = treeTables.find(({ name }) => name === "tasks")?.columns ?? [];
        if (task !== undefined) putTask.get(...columns.map((name) => task[name] ?? null));
      });
    },
  };
}

function insertInto(database: DatabaseSync, table: string, columns: readonly string[]): StatementSync {
  const marks = columns.map(() => "?").join(", ");
  return database.prepare(`INSERT OR REPLACE INTO ${table} (${columns.join(", ")}) VALUES (${marks})`);
}

interface SharedStatements {
  readonly columns: readonly string[];
  readonly key: readonly string[];
  readonly put: StatementSync;
  readonly remove: StatementSync;
}

function sharedStatements(database: DatabaseSync): ReadonlyMap<string, SharedStatements> {
  return new Map(
    Object.entries(sharedTables).map(([name, { columns, key }]) => {
      const found = key.map((column) => `${column} = ?`).join(" AND ");
      const remove = database.prepare(`DELETE FROM ${name} WHERE ${found}`);
      return [name, { columns, key, put: insertInto(database, name, columns), remove }];
    }),
  );
}

function applyChange(shared: ReadonlyMap<string, SharedStatements>, { name, row, gone }: SharedChange): void {
  // A table of a newer version, which this one knows nothing of.
  const table = shared.get(name);
  if (table === undefined) return;
  const values = (columns: readonly string[]): SQLInputValue[] => columns.map((column) => row[column] ?? null);
  if (gone) table.remove.get(...values(table.key));
  else table.put.get(...values(table.columns));
}
