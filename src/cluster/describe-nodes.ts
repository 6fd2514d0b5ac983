// Says how the nodes stand, after each of them had a moment to tell how much it has taken in.

import type { NodeList } from "../protocol/api/node-shapes.ts";
import { countUnowned, listNodes } from "../store/postgres/node-listing.ts";
import type { NodeStore } from "../store/postgres/postgres-store.ts";
import { askToAcknowledge } from "./seen-by-all.ts";

const patienceMs = 500;
const lookEveryMs = 10;

export async function describeNodes(node: NodeStore): Promise<NodeList> {
  const rows: NodeStore["rows"] = (sql, values) => node.rows(sql, values);
  await askToAcknowledge(node);
  let nodes = await listNodes(rows);
  for (const end = Date.now() + patienceMs; Date.now() < end; nodes = await listNodes(rows)) {
    if (nodes.every(({ alive, changesBehind }) => !alive || changesBehind === 0)) break;
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
  return {
    nodes: nodes.map((each) => ({
      name: each.name,
      url: each.url === "" ? null : each.url,
      version: each.version,
      labels: [...each.labels],
      state: each.alive ? ("alive" as const) : ("lost" as const),
      here: each.incarnation === node.incarnation,
      joined_at: each.joinedAt,
      trees: each.trees,
      lease_left_ms: each.leaseLeftMs,
      changes_behind: each.changesBehind,
      events_unplaced: each.eventsUnplaced,
    })),
    trees_without_node: await countUnowned(rows),
  };
}
