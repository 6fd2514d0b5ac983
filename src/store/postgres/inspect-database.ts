// Looks at a database as it is: its version, rights and settings, how fast it is, and which nodes it knows. Changes nothing of ours.

import type pg from "pg";

import { ask, connectTo, type DatabaseAddress, type Row } from "./database-connection.ts";
import { schemaVersion } from "./database.ts";
import { countUnowned, type ListedNode, listNodes } from "./node-listing.ts";
import { storageError } from "./storage-error.ts";

export interface DatabaseFacts {
  /** As PostgreSQL counts: 150004 is 15.4. */
  readonly version: number;
  readonly versionText: string;
  /** It is a copy that follows another server and takes no writes. */
  readonly isCopy: boolean;
  readonly hasSchema: boolean;
  /** Tables can be made where they are needed. */
  readonly canMake: boolean;
  /** Tables for the time of a session, which `tutti export` makes. */
  readonly canMakeTemporary: boolean;
  /** Undefined when there are no tables of ours yet. */
  readonly schema: { readonly version: number; readonly oldest: number } | undefined;
  readonly settings: Readonly<Record<string, string>>;
  /** Servers that follow this one; undefined when the user may not see them. */
  readonly copies: number | undefined;
  readonly connections: { readonly used: number; readonly most: number };
  /** Its clock minus ours, and how exactly that is known. */
  readonly clock: { readonly aheadMs: number; readonly withinMs: number };
  readonly way: { readonly isLocal: boolean; readonly isEncrypted: boolean };
  readonly roundTripMs: number;
  /** Undefined when it could not be tried. */
  readonly commitMs: number | undefined;
  readonly nodes: readonly ListedNode[];
  readonly treesWithoutNode: number;
}

const settingNames = [
  "fsync",
  "full_page_writes",
  "synchronous_commit",
  "synchronous_standby_names",
  "default_transaction_isolation",
];
const tries = 5;

export async function inspectDatabase(address: DatabaseAddress): Promise<DatabaseFacts> {
  let client: pg.Client | undefined;
  try {
    client = await connectTo(address);
    return await inspect(client, address.schema);
  } catch (thrown) {
    throw storageError(thrown);
  } finally {
    await client?.end().catch(() => undefined);
  }
}

async function inspect(client: pg.Client, schema: string): Promise<DatabaseFacts> {
  const [about = {}] = await ask(client, aboutSql, [schema]);
  const settings: Record<string, string> = {};
  for (const name of settingNames) settings[name] = String((await ask(client, `SHOW ${name}`))[0]?.[name] ?? "");
  const is = (name: string): boolean => about[name] === 1;
  const isOurs = is("is_ours");
  const rows = (sql: string, values?: readonly unknown[]): Promise<Row[]> => ask(client, sql, values);
  const isCopy = is("is_copy");
  return {
    version: Number(about["version"]),
    versionText: String(about["version_text"]),
    isCopy,
    hasSchema: is("has_schema"),
    canMake: is("can_make"),
    canMakeTemporary: is("can_make_temporary"),
    schema: isOurs ? await schemaVersion(client) : undefined,
    settings,
    copies: await copiesOf(client),
    connections: { used: Number(about["used"]), most: Number(about["most"]) },
    clock: await clockOf(client),
    way: { isLocal: is("is_local"), isEncrypted: is("is_encrypted") },
    roundTripMs: await medianOf(() => ask(client, "SELECT 1")),
    commitMs: isCopy ? undefined : await commitTime(client),
    nodes: isOurs ? await listNodes(rows) : [],
    treesWithoutNode: isOurs ? await countUnowned(rows) : 0,
  };
}

const aboutSql = `
SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS version_text,
  pg_is_in_recovery() AS is_copy, to_regnamespace($1) IS NOT NULL AS has_schema,
  CASE WHEN to_regnamespace($1) IS NULL THEN has_database_privilege(current_database(), 'CREATE')
    ELSE has_schema_privilege($1, 'CREATE') AND has_schema_privilege($1, 'USAGE') END AS can_make,
  has_database_privilege(current_database(), 'TEMP') AS can_make_temporary,
  to_regclass($1 || '.schema_version') IS NOT NULL AS is_ours,
  (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
  current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS most,
  inet_server_addr() IS NULL OR inet_server_addr() << '127.0.0.0/8' OR inet_server_addr() = '::1' AS is_local,
  COALESCE((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS is_encrypted`;

async function copiesOf(client: pg.Client): Promise<number | undefined> {
  const sql = `SELECT count(*) AS value FROM pg_stat_replication
    WHERE pg_has_role(current_user, 'pg_monitor', 'MEMBER') OR state IS NOT NULL`;
  const [row] = await ask(client, sql).catch(() => []);
  return row === undefined ? undefined : Number(row["value"]);
}

/** The answer that came back fastest tells it best. */
async function clockOf(client: pg.Client): Promise<DatabaseFacts["clock"]> {
  let best = { aheadMs: 0, withinMs: Infinity };
  for (let at = 0; at < tries; at += 1) {
    const before = Date.now();
    const [row] = await ask(client, "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS value");
    const after = Date.now();
    const withinMs = (after - before) / 2 + 1;
    if (withinMs < best.withinMs) best = { aheadMs: Number(row?.["value"]) - (before + after) / 2, withinMs };
  }
  return best;
}

/** A message in the write-ahead log, which nobody reads: committing it takes as long as any commit. */
async function commitTime(client: pg.Client): Promise<number | undefined> {
  const commit = (): Promise<Row[]> => ask(client, "SELECT pg_logical_emit_message(true, 'tutti', 'doctor')");
  return medianOf(commit).catch(() => undefined);
}

async function medianOf(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let at = 0; at < tries; at += 1) {
    const before = performance.now();
    await work();
    times.push(performance.now() - before);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(tries / 2)] ?? 0;
}
