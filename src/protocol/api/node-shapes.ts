// The body of the route that lists nodes: the processes that work on the same records.

import { z } from "zod";

import { Time } from "../ids.ts";

export const NodeView = z.strictObject({
  name: z.string(),
  /** Where it is reached; null when it does not listen. */
  url: z.string().nullable(),
  version: z.string(),
  labels: z.array(z.string()),
  /** `lost`: its lease ended, and others take over its trees. A node that was stopped is not listed. */
  state: z.enum(["alive", "lost"]),
  /** It answered this request. */
  here: z.boolean(),
  joined_at: Time,
  /** Unfinished trees that it runs. */
  trees: z.int().nonnegative(),
  /** For how long nobody takes over its trees, unless it renews its lease; null when nobody could. */
  lease_left_ms: z.int().nonnegative().nullable(),
  /** How far it is behind the others: changes of shared records that it did not take in within half a second. */
  changes_behind: z.int().nonnegative(),
  /** Events that it recorded and that have no place in the one sequence yet. */
  events_unplaced: z.int().nonnegative(),
});
export type NodeView = z.infer<typeof NodeView>;

export const NodeList = z.strictObject({
  /** By name. */
  nodes: z.array(NodeView),
  /** Unfinished trees that no living node runs: they wait to be taken over, or for a node that has what they need. */
  trees_without_node: z.int().nonnegative(),
});
export type NodeList = z.infer<typeof NodeList>;
