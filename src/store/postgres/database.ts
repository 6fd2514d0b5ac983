// Prepares a database: makes the schema, brings its tables up to date under a lock, and refuses those that are too new.

import { randomBytes } from "node:crypto";

import type pg from "pg";

import { TuttiError } from "../../protocol/error.ts";
import { ask } from "./database-connection.ts";
import { type KnownSchema, knownSchema, oldestAfter, schemaLabel } from "./schema.ts";

/** Any number: all Tuttis that prepare a database at the same time take the same lock. */
const migrationLock = 7_384_201;

/** Part of the name of a schema, which stands in SQL as it is. */
const schemaName = /^[a-z_][a-z0-9_]{0,40}$/;

export interface PrepareOptions {
  /** Also refuses tables of a version that this one could work with, but does not know all of. */
  readonly exact?: boolean;
  readonly known?: KnownSchema;
}

/** Brings the tables up to date, under a lock, so that of several nodes that start at once only one does. */
export async function prepareDatabase(client: pg.Client, schema: string, options: PrepareOptions = {}): Promise<void> {
  if (!schemaName.test(schema)) {
    throw new TuttiError("invalid_input", `${schema} cannot be the name of a schema; use a-z, 0-9 and _`);
  }
  await client.query("BEGIN");
  try {
    await ask(client, "SELECT pg_advisory_xact_lock($1)", [migrationLock]);
    await makeSchema(client, schema);
    await migrate(client, options);
    await ask(client, "INSERT INTO meta VALUES ('salt', $1) ON CONFLICT DO NOTHING", [randomBytes(5).toString("hex")]);
    await client.query("COMMIT");
  } catch (thrown) {
    await client.query("ROLLBACK").catch(() => undefined);
    throw thrown;
  }
}

async function makeSchema(client: pg.Client, schema: string): Promise<void> {
  const [known] = await ask(client, "SELECT to_regclass($1) IS NOT NULL AS found", [`${schema}.schema_version`]);
  if (known?.["found"] === 1) return;
  // Nothing of ours is put among somebody else's tables.
  const [other] = await ask(client, "SELECT 1 AS found FROM pg_tables WHERE schemaname = $1 LIMIT 1", [schema]);
  if (other !== undefined) {
    throw new TuttiError(
      "conflict",
      `the schema ${schema} of the database holds tables of something else; choose another`,
    );
  }
  await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
  await client.query(
    `CREATE TABLE schema_version (version int NOT NULL, oldest int NOT NULL);
     INSERT INTO schema_version VALUES (0, 1)`,
  );
}

async function migrate(client: pg.Client, { exact = false, known = knownSchema }: PrepareOptions): Promise<void> {
  const { migrations, breaking } = known;
  const { version, oldest } = await schemaVersion(client);
  if (version > migrations.length) {
    if (exact || oldest > migrations.length) throw tooNew();
    return;
  }
  const after = Math.max(oldest, oldestAfter(migrations.length, breaking));
  if (version > 0 && after > oldest) await refuseOlderNodes(client, after);
  for (const sql of migrations.slice(version)) await client.query(sql);
  await ask(client, "UPDATE schema_version SET version = $1, oldest = $2", [migrations.length, after]);
}

/** `oldest`: the oldest version that can work with the tables as they are. */
export async function schemaVersion(
  client: Pick<pg.ClientBase, "query">,
): Promise<{ readonly version: number; readonly oldest: number }> {
  const [row] = await ask(client, "SELECT version, oldest FROM schema_version");
  return { version: Number(row?.["version"]), oldest: Number(row?.["oldest"]) };
}

/** Why this version cannot work with the tables: a newer one has changed them meanwhile. */
export async function tooNewFor(client: pg.Client, known: KnownSchema): Promise<TuttiError | undefined> {
  const { oldest } = await schemaVersion(client);
  return oldest > known.migrations.length ? tooNew() : undefined;
}

function tooNew(): TuttiError {
  return new TuttiError("newer", "the tables of the database were made by a newer Tutti; update this one");
}

async function refuseOlderNodes(client: pg.Client, oldest: number): Promise<void> {
  const rows = await ask(client, "SELECT name FROM nodes WHERE alive AND NOT labels @> ARRAY[$1::text] ORDER BY name", [
    schemaLabel(oldest),
  ]);
  if (rows.length === 0) return;
  const names = rows.map((row) => String(row["name"])).join(", ");
  throw new TuttiError(
    "conflict",
    `this version changes the tables so that older nodes cannot work with them, and some are there: ${names}; update them to the version before this one first, or stop them with \`tutti down\``,
  );
}
