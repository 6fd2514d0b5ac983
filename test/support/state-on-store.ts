// A whole state on the store that tests run on: in its folder, or as the only node of a PostgreSQL database of its own.

import { clusterKeyFrom, newClusterKey } from "../../src/daemon/cluster/cluster-key.ts";
import type { PreparedNode } from "../../src/daemon/cluster/prepare-node.ts";
import { type OpenOptions, openState } from "../../src/daemon/state/open-state.ts";
import type { State } from "../../src/daemon/state/state.ts";
import { isOnPostgres, newDatabase } from "./stores.ts";

/** By state folder: what is opened again goes on with the same database. */
const nodes = new Map<string, PreparedNode>();

export function openTestState(folder: string, options: Pick<OpenOptions, "resume"> = {}): Promise<State> {
  if (!isOnPostgres()) return openState(folder, options);
  const node = nodes.get(folder) ?? {
    address: newDatabase(),
    name: "test",
    labels: [],
    leaseMs: 300_000,
    key: clusterKeyFrom(newClusterKey(), "the test"),
    secrets: [],
    insecure: false,
  };
  nodes.set(folder, node);
  return openState(folder, { ...options, node });
}
