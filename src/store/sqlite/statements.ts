// Prepared statements as functions: reads that give typed rows, and SQLite's errors in our own words.
import type { DatabaseSync, SQLInputValue, SQLOutputValue } from "node:sqlite";

import type { RowReader } from "./rows.ts";
import { storageError } from "./storage-error.ts";

interface Reads {
  readonly all: <T>(sql: string, read: RowReader<T>) => (...values: SQLInputValue[]) => T[];
  /** Rows one by one; what is not taken is not read. */
  readonly each: <T>(sql: string, read: RowReader<T>) => (...values: SQLInputValue[]) => Generator<T, void, undefined>;
  readonly one: <T>(sql: string, read: RowReader<T>) => (...values: SQLInputValue[]) => T | undefined;
}

/** `before` is called before each read, with its first value. */
export function readsOver(
  database: DatabaseSync,
  path: string,
  before?: (first: SQLInputValue | undefined) => void,
): Reads {
  const reads = plainReads(database, path);
  if (before === undefined) return reads;
  type Read<T> = (...values: SQLInputValue[]) => T;
  const afterIt =
    <T>(read: Read<T>): Read<T> =>
    (...values) => {
      before(values[0]);
      return read(...values);
    };
  return {
    all: (sql, read) => afterIt(reads.all(sql, read)),
    each: (sql, read) => afterIt(reads.each(sql, read)),
    one: (sql, read) => afterIt(reads.one(sql, read)),
  };
}

function plainReads(database: DatabaseSync, path: string): Reads {
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
    each: (sql, read) => {
      const statement = database.prepare(sql);
      return function* (...values) {
        try {
          for (const found of statement.iterate(...values)) yield read(found);
        } catch (thrown) {
          throw storageError(path, thrown);
        }
      };
    },
    one: (sql, read) => {
      const statement = database.prepare(sql);
      // Putting the names of the columns on here is much faster than an object made by SQLite's binding.
      statement.setReturnArrays(true);
      const names = statement.columns().map(({ name }) => name);
      return (...values) => {
        const found = guarded(() => statement.get(...values));
        if (found === undefined) return undefined;
        const row: Record<string, SQLOutputValue> = {};
        for (let at = 0; at < names.length; at += 1) row[names[at] ?? ""] = found[at] ?? null;
        return read(row);
      };
    },
  };
}
