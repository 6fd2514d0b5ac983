// Prepares a database: makes the schema, brings its tables up to date under a lock, and gives the store its salt.

import { randomBytes } from "node:crypto";

import type pg from "pg";

import { TuttiError } from "../../protocol/error.ts";
import { ask } from "./database-connection.ts";
import { migrations } from "./schema.ts";

/** Any number: all Tuttis that prepare a database at the same time take the same lock. */
const migrationLock = 7_384_201;

/** Part of the name of a schema, which stands in SQL as it is. */
const schemaName = /^[a-z_][a-z0-9_]{0,40}$/;

/** Brings the tables up to date; returns the salt of the names this store gives. */
export async function prepareDatabase(client: pg.Client, schema: string): Promise<string> {
  if (!schemaName.test(schema)) {
    throw new TuttiError("invalid_input", `${schema} cannot be the name of a schema; use a-z, 0-9 and _`);
  }
  await client.query("BEGIN");
  try {
    await ask(client, "SELECT pg_advisory_xact_lock($1)", [migrationLock]);
    const salt = await migrate(client, schema);
    await client.query("COMMIT");
    return salt;
  } catch (thrown) {
    await client.query("ROLLBACK").catch(() => undefined);
    throw thrown;
  }
}

async function migrate(client: pg.Client, schema: string): Promise<string> {
  const [known] = await ask(client, "SELECT to_regclass($1) IS NOT NULL AS found", [`${schema}.schema_version`]);
  if (known?.["found"] !== 1) {
    // Nothing of ours is put among somebody else's tables.
    const [other] = await ask(client, "SELECT 1 AS found FROM pg_tables WHERE schemaname = $1 LIMIT 1", [schema]);
    if (other !== undefined) {
      throw new TuttiError(
        "conflict",
        `the schema ${schema} of the database holds tables of something else; choose another`,
      );
    }
    await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
    await client.query("CREATE TABLE schema_version (version int NOT NULL); INSERT INTO schema_version VALUES (0)");
  }
  const [at] = await ask(client, "SELECT version FROM schema_version");
  const version = Number(at?.["version"]);
  if (version > migrations.length) {
    throw new TuttiError("newer", "the database was prepared by a newer Tutti; update this one");
  }
  for (const sql of migrations.slice(version)) await client.query(sql);
  await ask(client, "UPDATE schema_version SET version = $1", [migrations.length]);
  await ask(client, "INSERT INTO meta VALUES ('salt', $1) ON CONFLICT DO NOTHING", [randomBytes(5).toString("hex")]);
  const [salt] = await ask(client, "SELECT value FROM meta WHERE key = 'salt'");
  return String(salt?.["value"]);
}
