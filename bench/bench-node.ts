// What the benchmarks of a cluster share: a PostgreSQL that syncs to disk, and nodes over it.
import { mkdtempSync } from "node:fs";
import { join } from "node:path";

import { ClusterNode } from "../src/cluster/cluster-node.ts";
import type { DatabaseAddress } from "../src/store/postgres/database-connection.ts";
import { type PostgresServer, startPostgres } from "../test/support/postgres-server.ts";
import { type Bench, type BenchLoops, completeIn, engineOver } from "./bench-engine.ts";

/** A server of the benchmark's own, for the time of the work. */
export async function withPostgres<T>(work: (server: PostgresServer) => Promise<T>): Promise<T> {
  const server = startPostgres({ fsync: true });
  try {
    return await work(server);
  } finally {
    server.stop();
  }
}

/**
 * So long that nothing of the membership is part of what is measured: a node that works would give idle ones a share of its trees
 * when it renews its lease.
 */
const leaseMs = 1_800_000;

export interface BenchNode extends Bench {
  readonly node: ClusterNode;
}

export async function openBenchNode(
  address: DatabaseAddress,
  { name, folder, loops }: { readonly name: string; readonly folder: string; readonly loops: BenchLoops },
): Promise<BenchNode> {
  const node = await ClusterNode.open({
    address,
    identity: { name, url: "", labels: [], version: "bench", leaseMs },
    cacheFolder: mkdtempSync(join(folder, "cache-")),
    engine: ({ store }) => engineOver(store, loops),
    onFenced: (error) => {
      throw error;
    },
  });
  return {
    node,
    engine: node.engine,
    complete: (task) => completeIn(node.engine, task),
    close: () => node.close(),
  };
}
