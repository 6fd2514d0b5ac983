// Trees that nobody runs because no living node has what they need.

import { z } from "zod";

import type { NodeStore } from "../store/postgres/postgres-store.ts";

export interface ParkedTree {
  readonly root: number;
  /** What it needs and the node that has most of it lacks; all of it when there is no other node. */
  readonly missing: readonly string[];
}

const mostParked = 100;

/** A tree that a living node could take is not parked: it waits only until that node looks. */
const parkedSql = `
  SELECT t.root, array_to_json(ARRAY(
      SELECT need FROM unnest(t.needs) AS need WHERE need <> ALL (COALESCE((
        SELECT n.labels FROM nodes n WHERE n.alive
          ORDER BY cardinality(ARRAY(SELECT unnest(t.needs) EXCEPT SELECT unnest(n.labels))), n.incarnation LIMIT 1), '{}'))
      ORDER BY need))::text AS missing
    FROM trees t
    WHERE t.open AND NOT EXISTS (
      SELECT 1 FROM nodes n WHERE n.alive AND (n.incarnation = t.owner OR t.needs <@ n.labels))
    ORDER BY t.root LIMIT $1`;

export async function parkedTrees(node: Pick<NodeStore, "rows">): Promise<ParkedTree[]> {
  const rows = await node.rows(parkedSql, [mostParked]);
  return rows.map(({ root, missing }) => ({
    root: Number(root),
    missing: z.array(z.string()).parse(JSON.parse(String(missing))),
  }));
}

export function parkedReason({ missing }: Pick<ParkedTree, "missing">): string {
  const named = missing.length === 0 ? "what it needs" : missing.join(", ");
  return `no node that is up has ${named}; it goes on when one joins that has`;
}
