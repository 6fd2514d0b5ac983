// Retention: removes finished trees, oldest first, and gives the space back to the disk.
import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";

import { databaseFile, openDatabase } from "./database.ts";
import { storageError } from "./storage-error.ts";

/** How long the idempotency keys of a pruned tree are kept: sent again, such a request is refused and not carried out twice. */
const keysKeptMs = 30 * 24 * 60 * 60 * 1000;

export interface PruneOptions {
  /** Trees that ended before this time go. */
  readonly endedBefore?: number;
  /** Then the oldest, until what is left fits. */
  readonly maxBytes?: number;
}

export interface PruneReport {
  readonly trees: number;
  readonly tasks: number;
  readonly bytes_before: number;
  readonly bytes_after: number;
}

/** A tree is finished when every task of it is. The caller holds the folder's lock. */
export function pruneTrees(folder: string, options: PruneOptions): PruneReport {
  const { database, path, close } = openDatabase(folder);
  try {
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    database.prepare("DELETE FROM keys WHERE pruned_at < ?").run(Date.now() - keysKeptMs);
    const before = statSync(databaseFile(folder)).size;
    const finished = finishedTrees(database);
    const removed = finished.filter((tree) => options.endedBefore !== undefined && tree.ended < options.endedBefore);
    const left = finished.filter((tree) => !removed.includes(tree));
    let tasks = removed.reduce((sum, tree) => sum + removeTree(database, tree.root), 0);
    let trees = removed.length;
    while (options.maxBytes !== undefined && liveBytes(database) > options.maxBytes) {
      const oldest = left.shift();
      if (oldest === undefined) break;
      tasks += removeTree(database, oldest.root);
      trees += 1;
    }
    if (trees > 0) database.exec("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
    return { trees, tasks, bytes_before: before, bytes_after: statSync(databaseFile(folder)).size };
  } catch (thrown) {
    throw storageError(path, thrown);
  } finally {
    close();
  }
}

/**
 * Oldest first. A tree that was said into a thread counts as ended when the last tree of the thread has, since the thread
 * shows all of them and its next task begins with what was said in them. A fork has the trees of the thread that it is a copy of.
 */
function finishedTrees(database: DatabaseSync): { root: number; ended: number }[] {
  const rows = database
    .prepare(
      `WITH trees AS MATERIALIZED (
         SELECT tasks.root AS root, CASE WHEN COUNT(*) = COUNT(results.task) THEN MAX(results.at) END AS ended
         FROM tasks LEFT JOIN results ON results.task = tasks.id GROUP BY tasks.root),
       spoken AS MATERIALIZED (
         SELECT thread, CASE WHEN COUNT(*) = COUNT(ended) THEN MAX(ended) END AS ended
         FROM thread_entries JOIN trees ON trees.root = thread_entries.task GROUP BY thread)
       SELECT trees.root AS root, MAX(trees.ended, IFNULL(MAX(spoken.ended), 0)) AS ended
       FROM trees LEFT JOIN thread_entries ON thread_entries.task = trees.root
       LEFT JOIN spoken ON spoken.thread = thread_entries.thread
       GROUP BY trees.root HAVING trees.ended IS NOT NULL AND COUNT(thread_entries.thread) = COUNT(spoken.ended)
       ORDER BY ended`,
    )
    .all();
  return rows.map((row) => ({ root: Number(row["root"]), ended: Number(row["ended"]) }));
}

/** What the file would hold without its free pages. */
function liveBytes(database: DatabaseSync): number {
  const pragma = (name: string): number => Number(database.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0);
  return (pragma("page_count") - pragma("freelist_count")) * pragma("page_size");
}

/** One transaction per tree; the last ids ever used are kept, so that none is given out again. */
function removeTree(database: DatabaseSync, root: number): number {
  database.exec("BEGIN IMMEDIATE");
  try {
    for (const table of ["tasks", "runs", "log", "waits", "mail", "threads"]) {
      database
        .prepare(
          `INSERT INTO counters (name, last) SELECT '${table}', COALESCE(MAX(id), 0) FROM ${table} WHERE true
           ON CONFLICT (name) DO UPDATE SET last = MAX(last, excluded.last)`,
        )
        .run();
    }
    const tasks = "SELECT id FROM tasks WHERE root = ?";
    const runs = `SELECT id FROM runs WHERE task IN (${tasks})`;
    const remove = (sql: string): number => Number(database.prepare(sql).run(root).changes);
    remove(`DELETE FROM log WHERE run IN (${runs})`);
    for (const table of ["step_starts", "timers"]) remove(`DELETE FROM ${table} WHERE run IN (${runs})`);
    for (const table of ["answers", "sent"]) {
      remove(`DELETE FROM ${table} WHERE wait IN (SELECT id FROM waits WHERE root = ?)`);
    }
    remove("DELETE FROM waits WHERE root = ?");
    database
      .prepare(`UPDATE keys SET pruned_at = ? WHERE key LIKE 'request %' AND task IN (${tasks})`)
      .run(Date.now(), root);
    remove(`DELETE FROM keys WHERE pruned_at IS NULL AND task IN (${tasks})`);
    for (const table of ["mail", "results", "result_previews", "request_previews", "leases", "resumes", "runs"]) {
      remove(`DELETE FROM ${table} WHERE task IN (${tasks})`);
    }
    // A thread goes as a whole: what is left of it would begin in the middle of a conversation.
    const threads = "SELECT thread FROM thread_entries WHERE task = ?";
    remove(`DELETE FROM threads WHERE id IN (${threads})`);
    remove(`DELETE FROM thread_entries WHERE thread IN (${threads})`);
    const removed = remove("DELETE FROM tasks WHERE root = ?");
    database.exec("COMMIT");
    return removed;
  } catch (thrown) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw thrown;
  }
}
