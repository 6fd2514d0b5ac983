// Takes a page out of rows that are read one by one: bounded in their number and in their length.

import type { ReadLimits, Rows } from "../view.ts";

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
