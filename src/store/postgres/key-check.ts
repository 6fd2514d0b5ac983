// Lets only nodes with the same cluster key join one database: the first leaves a value that shows whether another has it too.

import type pg from "pg";

import { z } from "zod";

import { TuttiError } from "../../protocol/error.ts";
import { parseJson } from "../../protocol/json/parse-json.ts";
import { ask, type Row } from "./database-connection.ts";

type Asking = Pick<pg.ClientBase, "query">;

/** The row of the setting, as nodes hear of it. */
export const keyCheckRow = "key_check";
const oldChecksRow = "old_key_checks";
const nextKeyRow = (node: string): string => `next_key of ${node}`;
/** So many keys before are remembered. */
const mostOld = 20;

export interface KeyChecks {
  /** Undefined when no node with a key has joined yet. */
  readonly now: string | undefined;
  /** Those of the keys that this cluster had before. */
  readonly before: readonly string[];
}

export async function keyChecksOver(
  rows: (sql: string, values: readonly unknown[]) => Promise<Row[]>,
): Promise<KeyChecks> {
  const found = await rows("SELECT key, value FROM meta WHERE key = ANY($1)", [[keyCheckRow, oldChecksRow]]);
  const valueOf = (key: string): string | undefined => {
    const value = found.find((row) => row["key"] === key)?.["value"];
    return typeof value === "string" ? value : undefined;
  };
  const before = z.array(z.string()).catch([]);
  return { now: valueOf(keyCheckRow), before: before.parse(parseJson(valueOf(oldChecksRow) ?? "[]")) };
}

const checksOf = (client: Asking): Promise<KeyChecks> => keyChecksOver((sql, values) => ask(client, sql, values));

/** Undefined when no node with a key has joined yet. */
export async function keyCheckOf(client: Asking): Promise<string | undefined> {
  return (await checksOf(client)).now;
}

/** Those of the keys that this cluster had before. */
export async function oldKeyChecks(client: Asking): Promise<readonly string[]> {
  return (await checksOf(client)).before;
}

/** The first node decides. Throws `unauthorized` for a node with another key, and for one without. */
export async function requireKeyCheck(client: Asking, check: string | undefined): Promise<void> {
  if (check !== undefined) {
    await ask(client, "INSERT INTO meta VALUES ($1, $2) ON CONFLICT DO NOTHING", [keyCheckRow, check]);
  }
  const { now, before } = await checksOf(client);
  if (now !== check) throw otherKeyError(check, before);
}

/** For whoever has the key with this check, or none, where the database has another. */
export function otherKeyError(check: string | undefined, old: readonly string[] = []): TuttiError {
  const how = "run `tutti cluster-key show` on a node that has it and `tutti cluster-key set` here";
  if (check === undefined) {
    return new TuttiError(
      "unauthorized",
      `this database belongs to a cluster whose key this node does not have; ${how}`,
    );
  }
  if (old.includes(check)) {
    const where = "where $TUTTI_CLUSTER_KEY or --cluster-key-file gives the key, change it there";
    return new TuttiError(
      "unauthorized",
      `the key of this cluster was changed, and this machine has an old one; ${how}; ${where}`,
    );
  }
  const message =
    "this node has another cluster key than the nodes of this database; check the URL of the database, or move cluster.key of this node away and run `tutti cluster-key set` with the key of another node";
  return new TuttiError("unauthorized", message);
}

/** The node has the key that the cluster is to have next. */
export async function noteNextKey(client: Asking, node: string, check: string): Promise<void> {
  const sql = "INSERT INTO meta VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
  await ask(client, sql, [nextKeyRow(node), check]);
}

/** Nodes that live and have not said that they have the key with this check. */
export async function nodesWithoutNextKey(client: Asking, check: string): Promise<string[]> {
  const sql = `SELECT name FROM nodes WHERE alive AND NOT EXISTS (
    SELECT 1 FROM meta WHERE key = 'next_key of ' || name AND value = $1) ORDER BY name`;
  return (await ask(client, sql, [check])).map((row) => String(row["name"]));
}

/** In the transaction in which everything is sealed anew. Throws when somebody else has changed the key meanwhile. */
export async function changeKeyCheck(client: Asking, from: string, to: string): Promise<void> {
  const { now, before } = await checksOf(client);
  if (now !== from) throw otherKeyError(from, [from]);
  const old = [...before, from].slice(-mostOld);
  const sql = "INSERT INTO meta VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
  await ask(client, sql, [oldChecksRow, JSON.stringify(old)]);
  await ask(client, sql, [keyCheckRow, to]);
  await ask(client, "DELETE FROM meta WHERE key LIKE 'next\\_key of %'");
}
