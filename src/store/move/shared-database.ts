// What moving records into a shared database and out of it needs of the database: no nodes, numbers for trees, its salt.

import type pg from "pg";

import { TuttiError } from "../../protocol/error.ts";
import { movedAwayError, movedKey } from "../moved-mark.ts";
import { type Salt, saltIn } from "../names.ts";
import { ask } from "../postgres/database-connection.ts";
import { numbersAtOnce } from "../postgres/postgres-store.ts";

/** For the rest of the transaction no node joins. Throws when one is there, or may still be. */
export async function keepNodesOut(client: pg.Client): Promise<void> {
  await client.query("LOCK TABLE nodes IN SHARE ROW EXCLUSIVE MODE");
  await client.query("SELECT bury_nodes()");
  const alive = await ask(client, "SELECT name FROM nodes WHERE alive ORDER BY name");
  if (alive.length === 0) return;
  const names = alive.map((row) => String(row["name"])).join(", ");
  throw new TuttiError(
    "conflict",
    `nodes work on this database: ${names}; stop them with \`tutti down\`. One that was lost counts until its lease has ended, some seconds later`,
  );
}

export async function saltOfDatabase(client: pg.Client): Promise<Salt> {
  const rows = await ask(client, "SELECT key, value FROM meta WHERE key NOT LIKE 'setting%'");
  const meta = rows.map((row) => ({ key: String(row["key"]), value: String(row["value"]) }));
  if (meta.some(({ key }) => key === movedKey)) throw movedAwayError();
  return saltIn(meta);
}

/** The first of so many numbers of trees that follow each other and that no node has. Nodes are kept out. */
export async function reserveNumbers(client: pg.Client, count: number): Promise<number> {
  const blocks = Math.max(1, Math.ceil(count / numbersAtOnce));
  const sql =
    "SELECT min(block) AS first FROM (SELECT nextval('tree_numbers') AS block FROM generate_series(1, $1)) AS blocks";
  const [row] = await ask(client, sql, [blocks]);
  return Number(row?.["first"]) * numbersAtOnce;
}
