// Retention in a database that nodes share: removes finished trees, oldest first, and what nobody needs any more. Nodes may run meanwhile.

import { setTimeout as sleep } from "node:timers/promises";

import type pg from "pg";

import type { PruneOptions, PruneReport } from "../sqlite/prune-trees.ts";
import { ask, connectTo, type DatabaseAddress } from "./database-connection.ts";
import { storageError } from "./storage-error.ts";
import { treeUnit } from "./tree-ids.ts";

/** How long the idempotency keys of a pruned tree are kept: sent again, such a request is refused and not carried out twice. */
const keysKeptMs = 30 * 24 * 60 * 60 * 1000;
/** Trees that are removed in one transaction, so that none holds its locks for long. */
const treesAtOnce = 50;
/** Rows of other kinds that are removed in one statement. */
const rowsAtOnce = 10_000;
/** A command that was answered is of use to whoever asked, who waits a minute; a node that died, to whoever looks for it. */
const answeredKept = "1 hour";
const deadKept = "7 days";
const acknowledgeMs = 2_000;

/** Changes of shared rows that every living node has seen are of no use to anybody: a node that joins reads the rows themselves. */
const seenChanges = `SELECT id FROM shared_changes
  WHERE version <= COALESCE((SELECT min(seen_version) FROM nodes WHERE alive), (SELECT version FROM shared_version))`;

/** Rows beside the trees that are of no use any more, by what finds their ids. */
const outdated = [
  { table: "shared_changes", key: "id", found: seenChanges },
  {
    table: "commands",
    key: "id",
    found: `SELECT c.id FROM commands c LEFT JOIN trees t ON t.root = c.root
      WHERE c.made_at < now() - interval '${answeredKept}' AND (c.outcome IS NOT NULL OR t.open IS NOT TRUE)`,
  },
  {
    table: "batches",
    key: "id",
    // The last one stays: the next place is found from it, and readers that are behind go on after it.
    found: `SELECT b.id FROM batches b WHERE NOT EXISTS (SELECT 1 FROM log l WHERE l.batch = b.id)
      AND b.base < (SELECT max(base) FROM batches)`,
  },
  {
    table: "nodes",
    key: "incarnation",
    found: `SELECT n.incarnation FROM nodes n WHERE NOT n.alive AND n.died_at < now() - interval '${deadKept}'
      AND NOT EXISTS (SELECT 1 FROM trees t WHERE t.owner = n.incarnation AND t.open)
      AND NOT EXISTS (SELECT 1 FROM keys k WHERE k.claimed_by = n.incarnation)`,
  },
] as const;

/**
 * A tree is finished when every task of it is. A tree that was said into a thread counts as ended when the last tree of the
 * thread has; a fork has the trees of the thread that it is a copy of.
 */
const finishedTrees = `WITH ends AS MATERIALIZED (
    SELECT trees.root, CASE WHEN NOT trees.open THEN (SELECT max(r.at) FROM results r
      WHERE r.task >= trees.root - 1 AND r.task < trees.root - 1 + ${treeUnit}) END AS ended FROM trees),
  spoken AS MATERIALIZED (
    SELECT thread, CASE WHEN count(*) = count(ended) THEN max(ended) END AS ended
    FROM thread_entries JOIN ends ON ends.root = thread_entries.task GROUP BY thread)
  SELECT ends.root, GREATEST(ends.ended, COALESCE(max(spoken.ended), 0)) AS ended
  FROM ends LEFT JOIN thread_entries ON thread_entries.task = ends.root
  LEFT JOIN spoken ON spoken.thread = thread_entries.thread
  GROUP BY ends.root, ends.ended HAVING ends.ended IS NOT NULL AND count(thread_entries.thread) = count(spoken.ended)
  ORDER BY ended`;

/** Any number of nodes may be at work, and two may prune at once: what is removed is over, and each transaction is short. */
export async function pruneDatabase(address: DatabaseAddress, options: PruneOptions): Promise<PruneReport> {
  let client: pg.Client | undefined;
  try {
    client = await connectTo(address);
    return await prune(client, options);
  } catch (thrown) {
    throw storageError(thrown);
  } finally {
    await client?.end().catch(() => undefined);
  }
}

async function prune(client: pg.Client, { endedBefore, maxBytes }: PruneOptions): Promise<PruneReport> {
  const before = await sizeOf(client);
  await ask(client, "DELETE FROM keys WHERE pruned_at < $1", [Date.now() - keysKeptMs]);
  const found = await ask(client, finishedTrees);
  const finished = found.map((row) => ({ root: Number(row["root"]), ended: Number(row["ended"]) }));
  const [all] = await ask(client, "SELECT count(*) AS n FROM log");
  const removed = { trees: 0, tasks: 0, lines: 0 };
  // The files do not shrink at once, so what would be left is reckoned from how many lines went.
  const left = (): number => before * (1 - removed.lines / Math.max(1, Number(all?.["n"])));
  while (finished.length > 0) {
    const isOld = ({ ended }: { readonly ended: number }): boolean => endedBefore !== undefined && ended < endedBefore;
    const tooMuch = maxBytes !== undefined && left() > maxBytes;
    const next = finished.splice(0, treesAtOnce).filter((tree) => isOld(tree) || tooMuch);
    if (next.length === 0) break;
    const [done] = await ask(client, "SELECT * FROM remove_trees($1, $2)", [next.map(({ root }) => root), Date.now()]);
    for (const what of ["trees", "tasks", "lines"] as const) removed[what] += Number(done?.[what] ?? 0);
  }
  await askAllToAcknowledge(client);
  for (const { table, key, found: ids } of outdated) {
    await removeSome(client, table, `${key} IN (${ids} LIMIT ${rowsAtOnce})`);
  }
  await client.query("DELETE FROM node_leases WHERE incarnation NOT IN (SELECT incarnation FROM nodes)");
  if (removed.trees > 0) await client.query("VACUUM log, tasks, results, runs, batches, shared_changes");
  const { trees, tasks } = removed;
  return { trees, tasks, bytes_before: before, bytes_after: await sizeOf(client) };
}

/** Nodes say which changes of shared rows they have seen when they are asked. One that does not answer keeps what it needs. */
async function askAllToAcknowledge(client: pg.Client): Promise<void> {
  const [shared] = await ask(client, "SELECT version FROM shared_version");
  await ask(client, "SELECT pg_notify('tutti_acks_' || current_schema(), $1)", [String(shared?.["version"])]);
  for (const end = Date.now() + acknowledgeMs; Date.now() < end; await sleep(50)) {
    const sql = "SELECT 1 FROM nodes WHERE alive AND seen_version < $1 LIMIT 1";
    if ((await ask(client, sql, [shared?.["version"]])).length === 0) return;
  }
}

/** In pieces, until none is left. */
async function removeSome(client: pg.Client, table: string, condition: string): Promise<void> {
  for (;;) {
    const { rowCount } = await client.query(`DELETE FROM ${table} WHERE ${condition}`);
    if ((rowCount ?? 0) < rowsAtOnce) return;
  }
}

const ownTables =
  "SELECT c.oid FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'";

/** Of all tables with their indexes, as they are on disk. */
async function sizeOf(client: pg.Client): Promise<number> {
  const [row] = await ask(
    client,
    `SELECT COALESCE(sum(pg_total_relation_size(oid)), 0) AS n FROM (${ownTables}) AS own`,
  );
  return Number(row?.["n"] ?? 0);
}
