// What the process that the crash test kills works on: a state folder, or a PostgreSQL as the only node of its name.

import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";

import { ClusterNode } from "../../src/cluster/cluster-node.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { Tasks } from "../../src/ports.ts";
import type { Salt } from "../../src/store/names.ts";
import type { DatabaseAddress } from "../../src/store/postgres/database-connection.ts";
import { openForReading } from "../../src/store/sqlite/database.ts";
import { takeLock } from "../../src/store/sqlite/lock.ts";
import { openStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import type { Rows } from "./check-after-crash.ts";

export interface CrashRecords {
  readonly salt: Salt;
  readonly tasks: Tasks;
  readonly engine: Engine;
  /** Of the trees that are not over, at least. */
  readonly rows: Rows;
  /** Takes up what the process before left. */
  recover(): Promise<void>;
  /** Told of every question from now on. */
  onAsk(listener: (wait: number) => void): void;
  close(): Promise<void>;
}

export interface CrashParts {
  /** Called before anything can run: what was recorded before this process began, as the checker compares it. */
  readonly onBegin: (mark: number) => void;
  /** Called when the records are open, before what the process before left is taken up. */
  readonly engine: (store: Store) => Engine;
}

export function openFolderRecords(folder: string, parts: CrashParts): CrashRecords {
  const lock = takeLock(folder);
  const store = openStore(folder);
  const reader = openForReading(folder).database;
  const rows: Rows = (sql) => reader.prepare(sql).all();
  const last = (): number => Number(rows("SELECT MAX(id) AS value FROM log")[0]?.["value"] ?? 0);
  parts.onBegin(last());
  const engine = parts.engine(store);
  return {
    salt: store.salt,
    tasks: engine,
    engine,
    rows,
    async recover() {
      await engine.recover();
    },
    onAsk(listener) {
      let seen = last();
      store.onCommit(() => {
        for (const event of store.eventsAfter(seen, 10_000)) {
          seen = event.seq;
          if (event.type !== "ask.raised") continue;
          const { ask }: { ask: string } = JSON.parse(event.body ?? "{}");
          listener(Number.parseInt(ask.slice(ask.lastIndexOf("_") + 1), 36));
        }
      });
    },
    async close() {
      await engine.stop();
      store.close();
      lock.release();
    },
  };
}

/** Long enough for a busy machine. Nobody waits for its end: a node that joins takes the place of the one of its name. */
const leaseMs = 120_000;

/** Ids are of trees, so what was recorded before is told by time: all processes have the clock of one machine. */
export async function openNodeRecords(
  folder: string,
  address: DatabaseAddress,
  parts: CrashParts,
): Promise<CrashRecords> {
  parts.onBegin(Date.now());
  const cacheFolder = join(folder, "cache");
  const fail = (error: Error): void => {
    console.error(error.message);
    process.exit(1);
  };
  const node = await ClusterNode.open({
    address,
    // It comes back in the same place, so it need not wait for the lease of the one before.
    identity: { name: "killed", url: "", labels: [], version: "crash", leaseMs, machine: folder },
    cacheFolder,
    engine: ({ store }) => parts.engine(store),
    onFenced: fail,
    onLeft: (_, error) => fail(error),
  });
  const { store } = node.node;
  const reader = openForReading(cacheFolder).database;
  const rows: Rows = (sql) => reader.prepare(sql).all();
  return {
    salt: store.salt,
    tasks: node.tasks,
    engine: node.engine,
    rows,
    async recover() {
      const sql = "SELECT 1 FROM trees WHERE open AND owner IS DISTINCT FROM $1 LIMIT 1";
      do await node.beat();
      while ((await node.node.rows(sql, [node.node.incarnation])).length > 0 && (await sleep(20, true)));
      await node.beat();
    },
    onAsk(listener) {
      const told = new Set<number>();
      store.onCommit(() => {
        for (const { id } of store.openWaits()) {
          if (told.has(id)) continue;
          told.add(id);
          listener(id);
        }
      });
    },
    close: () => node.close(),
  };
}
