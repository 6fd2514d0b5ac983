// Joins a database in a thread of its own, so that a test can open a store there without awaiting, as it opens an embedded one.

import { type MessagePort, parentPort } from "node:worker_threads";

import { connectTo, type DatabaseAddress } from "../../src/store/postgres/database-connection.ts";
import { loadTrees } from "../../src/store/postgres/load-trees.ts";
import { joinDatabase } from "../../src/store/postgres/postgres-store.ts";

interface Request {
  readonly address: DatabaseAddress;
  readonly what: "join" | "fence";
  /** Of the node that joins. */
  readonly name: string;
  readonly signal: SharedArrayBuffer;
  readonly port: MessagePort;
}

const identity = { url: "", labels: [], version: "test", leaseMs: 600_000, machine: "test" };

parentPort?.on("message", ({ address, what, name, signal, port }: Request) => {
  (what === "join" ? join(address, name) : fence(address))
    .then(
      (value) => port.postMessage({ value }),
      (thrown: unknown) => port.postMessage({ error: String(thrown) }),
    )
    .finally(() => {
      Atomics.store(new Int32Array(signal), 0, 1);
      Atomics.notify(new Int32Array(signal), 0);
    });
});

/** A node of the same name takes the place of the one before, whose trees go to it. */
async function join(address: DatabaseAddress, name: string): Promise<unknown> {
  const node = await joinDatabase(address, { ...identity, name });
  const client = await connectTo(address);
  try {
    await client.query("SELECT take_trees($1, 100000)", [node.incarnation]);
    // Those that are over, too: an embedded store has them.
    const { rows } = await client.query<{ root: number }>("SELECT root FROM trees");
    const trees = await loadTrees(
      client,
      rows.map(({ root }) => root),
    );
    return { node, trees };
  } finally {
    await client.end();
  }
}

/** The node can write nothing more. */
async function fence(address: DatabaseAddress): Promise<unknown> {
  const client = await connectTo(address);
  try {
    await client.query("UPDATE nodes SET alive = false");
    return "fenced";
  } finally {
    await client.end();
  }
}
