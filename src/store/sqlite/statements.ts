// Prepared statements as functions: reads that give typed rows, and SQLite's errors in our own words.
import type { DatabaseSync, SQLInputValue } from "node:sqlite";

import type { RowReader } from "./rows.ts";
import { storageError } from "./storage-error.ts";

interface Reads {
  readonly all: <T>(sql: string, read: RowReader<T>) => (...values: SQLInputValue[]) => T[];
  readonly one: <T>(sql: string, read: RowReader<T>) => (...values: SQLInputValue[]) => T | undefined;
}

export function readsOver(database: DatabaseSync, path: string): Reads {
  const guarded = <T>(work: () => T): T => {
    try {
      return work();
    } catch (thrown) {
      throw storageError(path, thrown);
    }
  };
  return {
    all: (sql, read) => {
      const statement = database.prepare(sql);
      return (...values) => guarded(() => statement.all(...values).map(read));
    },
    one: (sql, read) => {
      const statement = database.prepare(sql);
      return (...values) => {
        const found = guarded(() => statement.get(...values));
        return found === undefined ? undefined : read(found);
      };
    },
  };
}
