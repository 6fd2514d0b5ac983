// Sends many rows to PostgreSQL, a bounded number at a time, each time as one statement with a column in each value.

import type { SQLOutputValue } from "node:sqlite";

import type pg from "pg";

import type { Column } from "../postgres/batch-columns.ts";
import { storedText } from "../postgres/stored-text.ts";

const rowsAtOnce = 2_000;
/** Rows may have megabytes each. */
const lengthAtOnce = 4 * 2 ** 20;

export type Values = readonly SQLOutputValue[];

export interface Target {
  readonly name: string;
  readonly columns: readonly Column[];
}

/** Yields them in groups that are sent together. */
export function* groupsOf(rows: Iterable<Values>): Generator<Values[]> {
  let [group, length]: [Values[], number] = [[], 0];
  for (const row of rows) {
    group.push(row);
    for (const value of row) length += typeof value === "string" ? value.length : 8;
    if (group.length < rowsAtOnce && length < lengthAtOnce) continue;
    yield group;
    [group, length] = [[], 0];
  }
  if (group.length > 0) yield group;
}

/** A row whose key is there already is left out. */
export async function putRows(client: Pick<pg.ClientBase, "query">, target: Target, rows: Values[]): Promise<void> {
  const { name, columns } = target;
  const names = columns.map((column) => column.name).join(", ");
  const arrays = columns.map(({ type }, at) => `$${at + 1}::${type}[]`).join(", ");
  await client.query(
    `INSERT INTO ${name} (${names}) SELECT * FROM unnest(${arrays}) ON CONFLICT DO NOTHING`,
    columns.map((_, at) => rows.map((row) => plain(row[at] ?? null))),
  );
}

function plain(value: SQLOutputValue): string | number | null {
  if (typeof value === "string") return storedText(value);
  return typeof value === "number" ? value : null;
}
