// A whole state on the store that tests run on: in its folder, or as the only node of a PostgreSQL database of its own.

import { clusterKeyFrom, newClusterKey } from "../../src/daemon/cluster/cluster-key.ts";
import { openState } from "../../src/daemon/state/open-state.ts";
import type { State } from "../../src/daemon/state/state.ts";
import { isOnPostgres, newDatabase } from "./stores.ts";

export function openTestState(folder: string): Promise<State> {
  if (!isOnPostgres()) return openState(folder);
  const key = clusterKeyFrom(newClusterKey(), "the test");
  const node = {
    address: newDatabase(),
    name: "test",
    labels: [],
    leaseMs: 300_000,
    key,
    secrets: [],
    insecure: false,
  };
  return openState(folder, { node });
}
