// What tests of services on several nodes share: whole nodes in this process, over one database, each with its HTTP server.

import { once } from "node:events";
import { join } from "node:path";
import { WebSocket } from "ws";

import { clusterKeyFrom } from "../../src/daemon/cluster/cluster-key.ts";
import { nameProjects } from "../../src/daemon/documents/project-names.ts";
import { listenForRequests } from "../../src/daemon/lifecycle/listen-for-requests.ts";
import { openState } from "../../src/daemon/state/open-state.ts";
import type { State } from "../../src/daemon/state/state.ts";
import { JoinedOperator } from "../../src/protocol/operator/operator-session.ts";
import type { DatabaseAddress } from "../../src/store/postgres/database-connection.ts";
import { send } from "../e2e/send-json.ts";
import { WireSocket } from "../e2e/wire-operator.ts";
import { type Cleanup, tempFolder } from "./temp-folder.ts";

export interface ServingNode {
  readonly state: State;
  readonly url: string;
  readonly key: string;
  readonly folder: string;
  readonly warnings: string[];
  /** Leaves the cluster; its trees go to the other nodes. */
  close(): Promise<void>;
}

const clusterKey = clusterKeyFrom("ab".repeat(32), "the test");

export interface ServingOptions {
  readonly name: string;
  readonly leaseMs?: number;
  readonly labels?: readonly string[];
  /** Projects that the person at this node named, each as `NAME=FOLDER`. */
  readonly projects?: readonly string[];
}

export async function serveNode(
  t: Cleanup,
  address: DatabaseAddress,
  { name, leaseMs = 60_000, labels = [], projects = [] }: ServingOptions,
): Promise<ServingNode> {
  const folder = tempFolder(t, "tutti-node-");
  nameProjects(folder, projects);
  const warnings: string[] = [];
  const log = { info() {}, error() {}, warn: (_: unknown, message: string) => void warnings.push(message) };
  const node = { address, name, labels, leaseMs, key: clusterKey, secrets: [], insecure: false };
  const state = await openState(folder, { log, node });
  const listening = { host: "127.0.0.1", loopback: true, ports: [0], tls: undefined, publicUrl: undefined } as const;
  const http = await listenForRequests(listening, {
    state,
    log,
    from: folder,
    notReady: () => undefined,
    onShutdown: () => undefined,
  });
  const key = await state.keys.ensureAdmin(join(folder, "admin.key"));
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> =>
    (closing ??= (async () => {
      await http.close();
      await state.close();
    })());
  t.after(close);
  return { state, url: http.url, key, folder, warnings, close };
}

export interface NodeOperator {
  readonly sid: string;
  readonly token: string;
}

export async function joinAt(node: ServingNode, roles: readonly string[], bearer = node.key): Promise<NodeOperator> {
  const reply = await send(node.url, { method: "POST", path: "/v1/operators", bearer, body: { roles } });
  if (reply.status !== 200) throw new Error(`joining was answered with ${reply.status}: ${reply.text}`);
  return JoinedOperator.parse(reply.json);
}

export async function connectTo(t: Cleanup, node: ServingNode, { sid, token }: NodeOperator): Promise<WireSocket> {
  const socket = new WebSocket(`${node.url.replace("http", "ws")}/v1/operators/${sid}/ws`, ["tutti.v1"], {
    perMessageDeflate: false,
    headers: { authorization: `Bearer ${token}` },
  });
  const wire = new WireSocket(socket);
  t.after(() => socket.terminate());
  await once(socket, "open");
  return wire;
}
