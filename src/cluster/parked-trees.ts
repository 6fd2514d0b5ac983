// Trees that nobody runs because no living node has what they need, and those with a task that waits at its node for a runner.

import { z } from "zod";

import type { NodeStore } from "../store/postgres/postgres-store.ts";

export interface ParkedTree {
  readonly root: number;
  /** What it needs and its owner lacks; without an owner, what the node that has most of it lacks; all of it when there is no node. */
  readonly missing: readonly string[];
  /** The node that has the tree; tasks that need nothing of what is missing go on there. */
  readonly owner?: string;
  /** A node that has everything, but what the tree did is on the machine of its owner. */
  readonly elsewhere?: string;
}

const mostParked = 100;

/** A tree that a living node could take is not parked: it waits only until that node looks. */
const parkedSql = `
  WITH able AS (
    SELECT t.root, (SELECT min(n.name) FROM nodes n WHERE n.alive AND n.incarnation IS DISTINCT FROM t.owner AND t.needs <@ n.labels) AS name
      FROM trees t WHERE t.open AND t.needs <> '{}')
  SELECT t.root, o.name AS owner, a.name AS elsewhere, array_to_json(ARRAY(
      SELECT need FROM unnest(t.needs) AS need WHERE need <> ALL (COALESCE(o.labels, (
        SELECT n.labels FROM nodes n WHERE n.alive
          ORDER BY cardinality(ARRAY(SELECT unnest(t.needs) EXCEPT SELECT unnest(n.labels))), n.incarnation LIMIT 1), '{}'))
      ORDER BY need))::text AS missing
    FROM trees t JOIN able a ON a.root = t.root LEFT JOIN nodes o ON o.incarnation = t.owner AND o.alive
    WHERE t.open AND CASE
      WHEN o.incarnation IS NULL THEN a.name IS NULL
      ELSE (a.name IS NULL OR t.stays)
        AND EXISTS (SELECT 1 FROM unnest(t.needs) AS need WHERE need LIKE 'runner:%' AND need <> ALL (o.labels)) END
    ORDER BY t.root LIMIT $1`;

export async function parkedTrees(node: Pick<NodeStore, "rows">): Promise<ParkedTree[]> {
  const rows = await node.rows(parkedSql, [mostParked]);
  return rows.map(({ root, missing, owner, elsewhere }) => ({
    root: Number(root),
    missing: z.array(z.string()).parse(JSON.parse(String(missing))),
    ...(typeof owner === "string" ? { owner } : {}),
    ...(typeof elsewhere === "string" ? { elsewhere } : {}),
  }));
}

export function parkedReason({ missing, owner, elsewhere }: Omit<ParkedTree, "root">): string {
  const named = missing.length === 0 ? "what it needs" : missing.join(", ");
  if (owner !== undefined && elsewhere !== undefined) {
    return `a task needs ${named}, which ${elsewhere} has, but what was done before is on the machine of ${owner}; it goes on when ${owner} has it, too`;
  }
  const join = `no node that is up has ${named}; it goes on when one joins that has`;
  return owner === undefined ? join : `a task waits at ${owner}: ${join}, or when ${owner} gets it`;
}
