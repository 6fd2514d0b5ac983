// How a node stands, in words: its lease, how far it is behind the others, and its labels.

import type { NodeView } from "../../../../src/client/index.ts";
import { duration, plural } from "../../format/show-time.ts";

/** A service that keeps its own records has no lease, and nobody who could take over. */
export function worksAlone(nodes: readonly Pick<NodeView, "lease_left_ms">[]): boolean {
  return nodes.every(({ lease_left_ms }) => lease_left_ms === null);
}

export function leaseWords(left: NodeView["lease_left_ms"]): string {
  if (left === null) return "none needed";
  return left === 0 ? "ended" : `${duration(left)} left`;
}

export function lagWords(node: Pick<NodeView, "changes_behind" | "events_unplaced">): string {
  const parts = [
    ...(node.changes_behind === 0 ? [] : [plural(node.changes_behind, "change")]),
    ...(node.events_unplaced === 0 ? [] : [plural(node.events_unplaced, "event")]),
  ];
  return parts.length === 0 ? "up to date" : `${parts.join(", ")} behind`;
}

const mostLabels = 8;

/** A node has a label for every project that it has, so there may be hundreds. */
export function labelWords(labels: readonly string[]): string {
  const more = labels.length - mostLabels;
  return [...labels.slice(0, mostLabels), ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
}
