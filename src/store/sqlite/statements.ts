// Prepared statements as functions: reads that give typed rows, and SQLite's errors in our own words.
import type { DatabaseSync, SQLInputValue, SQLOutputValue } from "node:sqlite";

import type { ReadLimits, Rows } from "../view.ts";
import type { RowReader } from "./rows.ts";
import { storageError } from "./storage-error.ts";

interface Reads {
  readonly all: <T>(sql: string, read: RowReader<T>) => (...values: SQLInputValue[]) => T[];
  /** Rows one by one; what is not taken is not read. */
  readonly each: <T>(sql: string, read: RowReader<T>) => (...values: SQLInputValue[]) => Generator<T, void, undefined>;
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

/** At most `limit` rows, up to the one that reaches `maxLength`. One row more is looked at, to know whether there are more. */
export function pageOf<T>(
  rows: Iterable<T>,
  { limit, maxLength = Infinity }: ReadLimits,
  lengthOf: (row: T) => number,
): Rows<T> {
  const page: T[] = [];
  let length = 0;
  for (const row of rows) {
    if (page.length === limit || length >= maxLength) return { rows: page, more: true };
    page.push(row);
    length += lengthOf(row);
  }
  return { rows: page, more: false };
}

/** The rows of the ids, each read when it is taken. */
export function* found<T>(ids: readonly number[], find: (id: number) => T | undefined): Generator<T> {
  for (const id of ids) {
    const row = find(id);
    if (row !== undefined) yield row;
  }
}
