// The records of one node of many, in the database that they share. The node takes up trees that nobody runs, and lives as long as its lease.

import { join } from "node:path";

import { ClusterTasks } from "../../cluster/cluster-tasks.ts";
import { describeNodes } from "../../cluster/describe-nodes.ts";
import { beginLife, type Life } from "../../cluster/node-life.ts";
import { seenByAll } from "../../cluster/seen-by-all.ts";
import { TuttiError } from "../../protocol/error.ts";
import { joinDatabase, openPostgresStore } from "../../store/postgres/postgres-store.ts";
import { openPostgresView } from "../../store/postgres/postgres-view.ts";
import { fencedError } from "../../store/postgres/storage-error.ts";
import { taskName } from "../../store/names.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { version } from "../version.ts";
import type { KeptRecords } from "./kept-records.ts";
import type { NodeSettings } from "./node-settings.ts";

export interface SharedRecordsOptions {
  readonly node: NodeSettings;
  /** A tree that could not be taken up; it stays as it is in the database. */
  readonly onLeft: (root: TaskId, error: TuttiError) => void;
  readonly onProblem: (error: TuttiError) => void;
  /** Told after every renewal for how long nobody can take the trees of this node. */
  readonly onRenewed?: (forMs: number) => void;
}

/** Joins: from now on the node is expected to renew its lease. */
export async function openSharedRecords(folder: string, options: SharedRecordsOptions): Promise<KeptRecords> {
  const { address } = options.node;
  const identity = { ...options.node, url: "", version };
  const joined = await joinDatabase(address, identity);
  const node = openPostgresStore(address, joined, join(folder, "cache"));
  const view = openPostgresView(address, joined.salt);
  const { store } = node;
  const begun = performance.now();
  let leaseEnd = begun + identity.leaseMs;
  let life: Life | undefined;
  let takesTrees = false;
  const ownName = (name: string): string => `${name} of ${identity.name}`;
  const lost = (error: TuttiError): void => node.fail(error);
  return {
    store,
    view,
    own: {
      setting: (name) => store.records.setting(ownName(name)),
      putSetting: (name, value) => store.records.putSetting(ownName(name), value),
    },
    shared: {
      node: identity.name,
      async announce(url) {
        await node.rows("UPDATE nodes SET url = $2 WHERE incarnation = $1", [node.incarnation, url]);
      },
      catchUp: () => node.catchUp(),
      onShared: (listener) => node.onShared(listener),
      nodes: () => describeNodes(node),
      seenByAll: () => seenByAll(node),
    },
    news: {
      get failure() {
        return store.failure;
      },
      onCommit(listener) {
        const offs = [node.onStamp(listener), store.onCommit(() => store.failure !== undefined && listener())];
        return () => offs.forEach((off) => off());
      },
    },
    control(engine) {
      const begunLife = beginLife(node, engine, {
        address,
        leaseMs: identity.leaseMs,
        onLost: lost,
        onLeft: (root, error) => options.onLeft(taskName(store.salt, root), error),
        onProblem: options.onProblem,
        onRenewed(forMs) {
          leaseEnd = performance.now() + forMs;
          options.onRenewed?.(forMs);
        },
        takesTrees: () => takesTrees,
      });
      life = begunLife;
      void begunLife.membership.start();
      return new ClusterTasks(() => begunLife);
    },
    async recover({ launch }) {
      if (life === undefined || !launch) return 0;
      takesTrees = true;
      await life.membership.beat();
      await life.membership.beat();
      await life.membership.takenUp();
      const { pending, running, input_required } = life.engine.counts();
      return pending + running + input_required;
    },
    /** Others may have taken over, and may have revoked keys that this node still knows. */
    unavailable() {
      if (store.failure !== undefined) return fencedError();
      if (performance.now() < leaseEnd) return undefined;
      const message =
        "this node cannot reach the database, so it does not know whether it still may answer; ask another";
      return new TuttiError("busy", message);
    },
    async close() {
      if (life !== undefined) await (store.failure === undefined ? life.membership.leave() : life.membership.close());
      view.close();
      await node.close();
    },
  };
}
