// Gives every row of a shared database its id in a state folder, where ids follow the order in which things happened.

import type pg from "pg";

import { treeUnit } from "../postgres/tree-ids.ts";

/**
 * Makes tables that live as long as the transaction: `placed_tasks` and so on, each with the old id and the new one.
 * Clocks of different machines may differ, but in a tree the order of the ids holds.
 */
export async function numberRows(client: pg.Client): Promise<void> {
  const place = async (kind: string, select: string): Promise<void> => {
    await client.query(`CREATE TEMP TABLE placed_${kind} ON COMMIT DROP AS ${select}`);
    await client.query(`CREATE UNIQUE INDEX ON placed_${kind} (old)`);
    await client.query(`ANALYZE placed_${kind}`);
  };
  const byTime = (table: string, time: string): string =>
    `SELECT id AS old, row_number() OVER (ORDER BY at, id) AS now FROM
      (SELECT id, max(${time}) OVER (PARTITION BY root ORDER BY id) AS at FROM ${table}) AS timed`;
  await place("tasks", byTime("tasks", "created_at"));
  await place("waits", byTime("waits", "raised_at"));
  await place("runs", "SELECT id AS old, row_number() OVER (ORDER BY id) AS now FROM runs");
  await place("mail", "SELECT id AS old, row_number() OVER (ORDER BY id) AS now FROM mail");
  await place("threads", "SELECT id AS old, row_number() OVER (ORDER BY created_at, id) AS now FROM threads");
  await place("log", placedLog);
  await client.query("CREATE INDEX ON placed_log (seq)");
}

/**
 * In a folder the id of a line is its sequence. Lines that are no events stand after the event before them in their tree,
 * or where they stood in the folder they came from. An event keeps its sequence unless such lines need its place.
 */
const placedLog = `
WITH placed AS (
  SELECT l.id, CASE WHEN l.batch IS NULL THEN l.place ELSE b.base + l.place END AS place, l.type IS NOT NULL AS event
    FROM log l LEFT JOIN batches b ON b.id = l.batch),
ordered AS (
  SELECT id, place, event, row_number() OVER (ORDER BY reached, id) AS n FROM
    (SELECT *, COALESCE(max(place) OVER (PARTITION BY id / ${treeUnit} ORDER BY id), 0) AS reached FROM placed) AS p)
SELECT id AS old, n + GREATEST(0, max(place - n) OVER (ORDER BY n)) AS now, CASE WHEN event THEN place END AS seq
  FROM ordered`;
