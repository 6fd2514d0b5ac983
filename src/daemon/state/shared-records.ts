// The records of one node of many, in the database that they share. The node takes up trees that nobody runs, and lives as long as its lease.

import { join } from "node:path";

import { ClusterTasks } from "../../cluster/cluster-tasks.ts";
import { elapsedMs } from "../../cluster/elapsed-clock.ts";
import { describeNodes } from "../../cluster/describe-nodes.ts";
import { beginLife, type Life } from "../../cluster/node-life.ts";
import { folderNeeds, NodeLabels } from "../../cluster/node-labels.ts";
import { ownerOf } from "../../cluster/tree-owner.ts";
import { parkedReason, parkedTrees } from "../../cluster/parked-trees.ts";
import { seenByAll } from "../../cluster/seen-by-all.ts";
import { threadProjects } from "../../cluster/thread-projects.ts";
import { type EndedByWatchdog, startWatchdog } from "../../cluster/watchdog.ts";
import { TuttiError } from "../../protocol/error.ts";
import { operatorReads } from "../../store/postgres/operator-reads.ts";
import { joinDatabase, openPostgresStore } from "../../store/postgres/postgres-store.ts";
import { openPostgresView } from "../../store/postgres/postgres-view.ts";
import { fencedError } from "../../store/postgres/storage-error.ts";
import { idInName, type Salt, taskName } from "../../store/names.ts";
import { rootOf } from "../../store/postgres/tree-ids.ts";
import { openWorkspaces, readRecords } from "../../workspace/index.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { ChangingKey } from "../cluster/changing-key.ts";
import type { ClusterKey } from "../cluster/cluster-key.ts";
import { followKey } from "../cluster/follow-key.ts";
import { nodeFetch, type OtherNode } from "../cluster/node-fetch.ts";
import { proofOf } from "../cluster/node-proof.ts";
import { checkNodeToken } from "../cluster/node-token.ts";
import { nodeDocuments } from "../documents/cluster-documents.ts";
import { projectNames } from "../documents/project-names.ts";
import { version } from "../version.ts";
import type { KeptRecords } from "./kept-records.ts";
import { machineOf } from "./machine-identity.ts";
import type { NodeSettings } from "./node-settings.ts";

export interface SharedRecordsOptions {
  readonly node: NodeSettings;
  readonly key: ClusterKey;
  /** The person accepts that nodes talk unencrypted over the network. */
  readonly insecure?: boolean | undefined;
  /** A tree that could not be taken up; it stays as it is in the database. */
  readonly onLeft: (root: TaskId, error: TuttiError) => void;
  readonly onProblem: (error: TuttiError) => void;
  /** People have given the cluster another key, and this node has it. */
  readonly onKeyChanged?: (by: string) => void;
  /** The lease ran out, and the processes of this node were ended. */
  readonly onEnded?: (ended: EndedByWatchdog) => void;
}

/** Joins: from now on the node is expected to renew its lease. */
export async function openSharedRecords(folder: string, options: SharedRecordsOptions): Promise<KeptRecords> {
  const { insecure } = options;
  const key = options.key instanceof ChangingKey ? options.key : new ChangingKey(options.key);
  const { address } = options.node;
  const machine = machineOf(folder, options.node.name).id;
  const identity = { ...options.node, url: "", version, keyCheck: key.check, machine };
  const projects = projectNames(folder);
  const { leaseMs } = identity;
  const { onEnded = () => undefined, onProblem } = options;
  // Before the node joins: from then on the trees of an earlier process of this node may be taken.
  const watchdog = await startWatchdog({ leaseMs, file: join(folder, "watchdog.json"), onEnded, onProblem });
  const begun = elapsedMs();
  const joined = await joinDatabase(address, identity).catch(async (thrown: unknown) => {
    await watchdog.close();
    throw thrown;
  });
  const node = openPostgresStore(address, joined, join(folder, "cache"));
  const keyFollower = followKey(node, { folder, key, onChanged: options.onKeyChanged });
  const view = openPostgresView(address, joined.salt);
  const { store } = node;
  let leaseEnd = begun + leaseMs;
  let life: Life | undefined;
  let announced: OtherNode | undefined;
  const proven = new Set<string>();
  let takesTrees = false;
  const ownName = (name: string): string => `${name} of ${identity.name}`;
  const lost = (error: TuttiError): void => node.fail(error);
  return {
    store,
    view,
    reads: operatorReads(node, joined.salt),
    own: {
      setting: (name) => store.records.setting(ownName(name)),
      putSetting: (name, value) => store.records.putSetting(ownName(name), value),
    },
    threadProjects: threadProjects(new NodeLabels([], { projects })),
    shared: {
      node: identity.name,
      async announce({ url, certificate }) {
        announced = { incarnation: node.incarnation, url, certificate };
        const sql = "UPDATE nodes SET url = $2, certificate = $3 WHERE incarnation = $1";
        await node.rows(sql, [node.incarnation, url, certificate]);
      },
      key,
      onKeyLost: (listener) => keyFollower.onLost(listener),
      async others({ first } = {}) {
        const sql = `SELECT incarnation, url, certificate FROM nodes WHERE alive AND incarnation <> $1 AND url <> ''
          ORDER BY labels && $2::text[] DESC, 1`;
        const rows = await node.rows(sql, [node.incarnation, first === undefined ? [] : folderNeeds(first)]);
        return rows.map(({ incarnation, url, certificate }) => ({
          incarnation: Number(incarnation),
          url: String(url),
          certificate: typeof certificate === "string" ? certificate : null,
        }));
      },
      async nodesGoneWith(gone) {
        const sql = `SELECT DISTINCT name FROM nodes n WHERE labels && $1::text[]
          AND NOT EXISTS (SELECT 1 FROM nodes o WHERE o.alive AND o.name = n.name) ORDER BY name LIMIT 10`;
        return (await node.rows(sql, [folderNeeds(gone)])).map(({ name }) => String(name));
      },
      fetchFrom: (target) => nodeFetch(target, { key, from: node.incarnation, insecure, proven }),
      prove(query) {
        if (announced === undefined) throw new TuttiError("busy", "this node is starting; ask again soon");
        return proofOf(key, announced, query);
      },
      checkToken: (token, request) => checkNodeToken(token, request, { key, to: node.incarnation, now: Date.now() }),
      documents: nodeDocuments(node, {
        by: `node ${identity.name}`,
        projects,
        key: () => key,
        over: () => life?.over(),
      }),
      onShared: (listener) => node.onShared(listener),
      catchUp: () => node.catchUp(),
      async ownerOf(task, signal) {
        if (life === undefined) throw new TuttiError("busy", "this node is starting; ask again soon");
        return ownerOf(life, task, signal);
      },
      places: {
        connected: (sid, connection) => node.placeOperator(sid, connection),
        disconnected: (sid, connection) => node.leavePlace(sid, connection),
        async all() {
          const sql = "SELECT p.sid FROM operator_places p JOIN nodes n ON n.incarnation = p.node AND n.alive";
          return new Set((await node.rows(sql)).map((row) => String(row["sid"])));
        },
      },
      async takeTurn(at) {
        const [taken] = await node.rows("SELECT take_turn($1, $2) AS mine", [at, node.incarnation]);
        return taken?.["mine"] === 1;
      },
      async claimOnce(what) {
        const [claimed] = await node.rows("SELECT claim_once($1) AS mine", [what]);
        return claimed?.["mine"] === 1;
      },
      nodes: () => describeNodes(node),
      seenByAll: () => seenByAll(node, () => life?.over()),
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
    control(engine, runners) {
      // The runner of coding agents is of use when one of them is installed.
      const isBuiltIn = (kind: string): boolean => kind !== "acp" && engine.runners.kinds.includes(kind);
      const labels = new NodeLabels(identity.labels, { projects, runners: { ...runners, isBuiltIn } });
      const workspaces = openWorkspaces(folder);
      const begunLife = beginLife(node, engine, {
        address,
        leaseMs,
        labels,
        hasWorkOf: (root) =>
          readRecords(workspaces).workspaces.some(({ task }) => rootOfName(store.salt, task) === root),
        onLost: lost,
        onLeft: (root, error) => options.onLeft(taskName(store.salt, root), error),
        onProblem,
        onRenewed(until) {
          leaseEnd = until;
          watchdog.renewed(until);
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
      if (elapsedMs() < leaseEnd) return undefined;
      const message =
        "this node cannot reach the database, so it does not know whether it still may answer; ask another";
      return new TuttiError("busy", message);
    },
    guard: (process) => watchdog.guard(process),
    async parked() {
      const trees = await parkedTrees(node);
      return trees.map((tree) => ({ task: taskName(store.salt, tree.root), runner: "", reason: parkedReason(tree) }));
    },
    async close() {
      // Nothing that this node started may run any more when its trees go to others.
      await watchdog.close();
      if (life !== undefined) await (store.failure === undefined ? life.membership.leave() : life.membership.close());
      view.close();
      await node.close();
    },
  };
}

function rootOfName(salt: Salt, task: TaskId): number | undefined {
  const id = idInName(salt, task);
  return id === undefined ? undefined : rootOf(id);
}
