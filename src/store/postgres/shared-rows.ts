// Follows the rows that all nodes share: all of them at the start, then what changed since, in the order of the commits.

import { z } from "zod";

import { ask, type Row } from "./database-connection.ts";
import type pg from "pg";
import { sharedTables } from "./shared-sql.ts";
import { readText } from "./stored-text.ts";

export interface SharedChange {
  readonly name: string;
  readonly row: Row;
  readonly gone: boolean;
}

export interface SharedRows {
  /** Of the last change that is in. */
  readonly version: number;
  readonly changes: readonly SharedChange[];
}

type Asking = Pick<pg.ClientBase, "query">;

/** Everything, as of one moment. The caller empties what it has first. */
export async function allShared(client: Asking): Promise<SharedRows> {
  // One statement sees one moment.
  const parts = Object.keys(sharedTables).map(
    (name) => `SELECT '${name}' AS name, to_jsonb(${name}) AS row, false AS gone FROM ${name}`,
  );
  const sql = `SELECT version, name, row, gone FROM shared_version LEFT JOIN (${parts.join(" UNION ALL ")}) AS rows ON true`;
  const rows = await ask(client, sql);
  return { version: Number(rows[0]?.["version"] ?? 0), changes: rows.flatMap(changeIn) };
}

/** What changed after a version. */
export async function sharedSince(client: Asking, version: number): Promise<SharedRows> {
  const rows = await ask(
    client,
    "SELECT version, name, row, gone FROM shared_changes WHERE version > $1 ORDER BY version, id",
    [version],
  );
  return { version: Number(rows.at(-1)?.["version"] ?? version), changes: rows.flatMap(changeIn) };
}

const Stored = z.record(z.string(), z.union([z.string(), z.number(), z.null()]));

function changeIn({ name, row, gone }: Row): SharedChange[] {
  if (typeof name !== "string" || typeof row !== "string") return [];
  const values = Stored.parse(JSON.parse(row));
  const read = Object.entries(values).map(
    ([column, value]) => [column, typeof value === "string" ? readText(value) : value] as const,
  );
  return [{ name, row: Object.fromEntries(read), gone: gone === 1 }];
}
