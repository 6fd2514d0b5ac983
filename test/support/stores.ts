// The store that tests of the engine run on: embedded, or PostgreSQL when `TUTTI_STORE=postgres` is set.

import { fail } from "node:assert/strict";
import { join } from "node:path";
import { MessageChannel, receiveMessageOnPort, Worker } from "node:worker_threads";

import { TuttiError } from "../../src/protocol/error.ts";
import type { DatabaseAddress } from "../../src/store/postgres/database-connection.ts";
import { type JoinedNode, type NodeStore, openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import type { LoadedTrees } from "../../src/store/postgres/load-trees.ts";
import { operatorReads as readsOnPostgres } from "../../src/store/postgres/operator-reads.ts";
import { openPostgresView } from "../../src/store/postgres/postgres-view.ts";
import type { OperatorReads } from "../../src/store/reads-for-operators.ts";
import type { ServiceRecords } from "../../src/store/service-records.ts";
import { operatorReads } from "../../src/store/sqlite/operator-reads.ts";
import { openStore } from "../../src/store/sqlite/sqlite-store.ts";
import { openView } from "../../src/store/sqlite/sqlite-view.ts";
import type { Store } from "../../src/store/store.ts";
import type { StoreView } from "../../src/store/view.ts";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";
import { counted } from "./settle.ts";

export const isOnPostgres = (): boolean => process.env["TUTTI_STORE"] === "postgres";

/** How many commits a test must have seen: on PostgreSQL what is written while one commit is under way goes with the next. */
export const fewestCommits = (embedded: number): number => (isOnPostgres() ? 2 : embedded);

let server: PostgresServer | undefined;
let worker: Worker | undefined;
let schemas = 0;
/** By the folder of a test. What is in the folder itself is the cache of its newest store. */
const databases = new Map<string, DatabaseAddress>();
const nodes = new Map<string, NodeStore>();

/** A server for all tests of this process. */
export function sharedServer(): PostgresServer {
  return (server ??= startPostgres());
}

/** Of a test's own. */
export function newDatabase(): DatabaseAddress {
  schemas += 1;
  return { url: sharedServer().url, schema: `test_${process.pid}_${schemas}` };
}

export function openStoreIn(folder: string): Store & { readonly records: ServiceRecords } {
  if (!isOnPostgres()) return openStore(folder);
  const address = databases.get(folder) ?? newDatabase();
  databases.set(folder, address);
  const { node, trees } = inThread(address, "join") as { node: JoinedNode; trees: LoadedTrees };
  const made = openPostgresStore(address, node, folder);
  made.loaded(trees);
  // Tests look into the copy that the folder holds, into which rows come only when they are read.
  made.store.onCommit(() => made.store.failure ?? made.store.unfinishedTrees());
  nodes.set(folder, made);
  return made.store;
}

/** By the folder of a test: the nodes that were opened side by side. */
const processes = new Map<string, NodeStore[]>();

/** Opens the same store once more, as another process would. What it has committed, all of them know. */
export function openProcessIn(folder: string): {
  readonly store: Store & { readonly records: ServiceRecords };
  readonly committed: () => Promise<void>;
} {
  if (!isOnPostgres()) {
    const store = openStore(folder);
    return { store, committed: () => store.committed() };
  }
  const address = databases.get(folder) ?? newDatabase();
  databases.set(folder, address);
  const others = processes.get(folder) ?? [];
  const name = `process-${others.length}`;
  const { node } = inThread(address, "join", name) as { node: JoinedNode };
  const made = openPostgresStore(address, node, others.length === 0 ? folder : join(folder, name));
  processes.set(folder, [...others, made]);
  const committed = async (): Promise<void> => {
    await made.store.committed();
    await Promise.all((processes.get(folder) ?? []).map((each) => each.catchUp().catch(() => undefined)));
  };
  return { store: made.store, committed };
}

/** What reads the store in `folder` as others do, and tells them of news. */
export interface ReadsOfStore {
  readonly view: StoreView;
  readonly news: Pick<Store, "onCommit" | "failure">;
  readonly reads: OperatorReads;
}

/** `store` is the newest that was opened in the folder. */
export function readsOfStoreIn(folder: string, store: Store): ReadsOfStore {
  const node = nodes.get(folder);
  if (node === undefined) return { view: openView(folder), news: store, reads: operatorReads(store) };
  return {
    view: openPostgresView(databaseOf(folder), store.salt),
    news: {
      get failure() {
        return store.failure;
      },
      onCommit(listener) {
        const offs = [node.onStamp(listener), store.onCommit(() => store.failure !== undefined && listener())];
        return () => offs.forEach((off) => off());
      },
    },
    reads: readsOnPostgres({ rows: (sql, values) => counted(node.rows(sql, values)) }, store.salt),
  };
}

/** The database that the store in `folder` keeps its rows in. */
export function databaseOf(folder: string): DatabaseAddress {
  return databases.get(folder) ?? fail(`there is no store in ${folder}`);
}

/** As a kill of the store in `folder`: nothing more of it is written. A store in `left` goes on with the same database. */
export function fenceStoreIn(folder: string, left: string): void {
  const address = databaseOf(folder);
  databases.set(left, address);
  inThread(address, "fence");
}

/** A store that was killed has nothing more to say; that it is refused is what a kill means here. */
export async function fencedAfterKill(stopped: Promise<void>): Promise<void> {
  await stopped.catch((thrown: unknown) => {
    if (!(thrown instanceof TuttiError && thrown.code === "locked")) throw thrown;
  });
}

function inThread(address: DatabaseAddress, what: "join" | "fence", name = "test"): unknown {
  worker ??= new Worker(new URL("postgres-worker.ts", import.meta.url));
  worker.unref();
  const signal = new SharedArrayBuffer(4);
  const { port1, port2 } = new MessageChannel();
  worker.postMessage({ address, what, name, signal, port: port2 }, [port2]);
  if (Atomics.wait(new Int32Array(signal), 0, 0, 60_000) === "timed-out")
    throw new Error("the database did not answer");
  const got = receiveMessageOnPort(port1)?.message as { value?: unknown; error?: string } | undefined;
  port1.close();
  if (got?.value === undefined) throw new Error(got?.error ?? "no answer from the thread that joins");
  return got.value;
}
