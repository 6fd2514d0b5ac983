// The database function that removes trees that are over, with everything that belongs to them.

import { treeUnit } from "./tree-ids.ts";

const within = (column: string): string => `${column} >= r.root - 1 AND ${column} < r.root - 1 + ${treeUnit}`;
const removed = (table: string, column: string): string =>
  `DELETE FROM ${table} t USING unnest(v_roots) AS r(root) WHERE ${within(`t.${column}`)};`;

/** By the column that says which tree a row belongs to. Shared rows are among them, and other nodes are told of those. */
const rowsOfTrees: readonly [table: string, column: string][] = [
  ["step_starts", "run"],
  ["timers", "run"],
  ["answers", "wait"],
  ["sent", "wait"],
  ["waits", "id"],
  ["mail", "id"],
  ["results", "task"],
  ["result_previews", "task"],
  ["request_previews", "task"],
  ["leases", "task"],
  ["resumes", "task"],
  ["runs", "id"],
];

export const pruneSql = `
CREATE FUNCTION remove_trees(p_roots bigint[], p_now bigint) RETURNS TABLE (trees bigint, tasks bigint, lines bigint)
LANGUAGE plpgsql AS $$
DECLARE v_roots bigint[]; v_tasks bigint; v_lines bigint; v_version bigint;
BEGIN
  -- Only what is over: nobody writes it any more, so nobody waits for these locks.
  SELECT COALESCE(array_agg(locked.root), '{}') INTO v_roots FROM
    (SELECT t.root FROM trees t WHERE t.root = ANY(p_roots) AND NOT t.open FOR UPDATE) AS locked;
  UPDATE shared_version SET version = version + 1 RETURNING version INTO v_version;
  ${removed("log", "id")}
  GET DIAGNOSTICS v_lines = ROW_COUNT;
  ${rowsOfTrees.map(([table, column]) => removed(table, column)).join("\n  ")}
  -- Sent again, such a request is refused and not carried out twice.
  UPDATE keys t SET pruned_at = p_now FROM unnest(v_roots) AS r(root) WHERE t.key LIKE 'request %' AND ${within("t.task")};
  DELETE FROM keys t USING unnest(v_roots) AS r(root) WHERE t.pruned_at IS NULL AND ${within("t.task")};
  -- A thread goes as a whole: what is left of it would begin in the middle of a conversation.
  WITH gone AS (SELECT DISTINCT thread FROM thread_entries WHERE task = ANY(v_roots)),
       named AS (DELETE FROM threads WHERE id IN (SELECT thread FROM gone))
    DELETE FROM thread_entries WHERE thread IN (SELECT thread FROM gone);
  ${removed("tasks", "id")}
  GET DIAGNOSTICS v_tasks = ROW_COUNT;
  DELETE FROM trees t WHERE t.root = ANY(v_roots);
  PERFORM pg_notify('tutti_shared_' || current_schema(), v_version::text);
  RETURN QUERY SELECT cardinality(v_roots)::bigint, v_tasks, v_lines;
END $$;
`;
