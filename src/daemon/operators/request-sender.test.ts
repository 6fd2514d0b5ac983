import assert from "node:assert/strict";
import { once } from "node:events";
import { Socket } from "node:net";
import { test } from "node:test";
import { WebSocket, WebSocketServer } from "ws";

import { connected, joined, type Kit, openKit, operatorTask } from "../../../test/support/operator-kit.ts";
import { settle } from "../../../test/support/settle.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { until } from "../../../test/support/wait-until.ts";
import { operatorReads } from "../../store/sqlite/operator-reads.ts";
import { openForReading } from "../../store/sqlite/database.ts";
import { OpenRequests } from "./open-requests.ts";
import { OperatorConnection } from "./operator-connection.ts";
import { requestReader } from "./read-requests.ts";
import { newOperatorSession } from "./session-state.ts";
import { treeOperators } from "./tree-operators.ts";

function handlesOf(kit: Kit): number {
  const { database, close } = openForReading(kit.folder);
  try {
    return Number(database.prepare("SELECT COUNT(*) AS count FROM handles").get()?.["count"]);
  } finally {
    close();
  }
}

test("a connection that is closing is sent nothing, and no rights are issued for it", async (t) => {
  const kit = await openKit(t, tempFolder(t));
  const { sid } = await joined(kit, "builder");
  const peer = await connected(kit, sid);
  // Its side of the connection stays open: the server waits for its end.
  const raw: unknown = Reflect.get(peer.socket, "_socket");
  assert.ok(raw instanceof Socket);
  peer.socket.close();
  raw.pause();
  await until(() => kit.hub.info(sid)?.connected === false);
  await kit.engine.start(operatorTask({ operator: "builder" }));
  await until(() => kit.hub.info(sid)?.pending === 1);
  await settle();
  assert.equal(handlesOf(kit), 0);
  const again = await connected(kit, sid);
  await again.next("spawn");
  assert.equal(handlesOf(kit), 1);
  peer.socket.terminate();
});

test("a settled request is forgotten by its connection and by its address", async (t) => {
  const kit = await openKit(t, tempFolder(t));
  const peer = await connected(kit, (await joined(kit)).sid);
  await kit.engine.start(operatorTask({ operator: "builder" }));
  await until(() => kit.store.openWaits().length === 2);
  const row = kit.store.openWaits().find(({ key }) => key === "spawn") ?? assert.fail();
  const reads = operatorReads(kit.store);
  const [request = assert.fail()] = await requestReader(reads, treeOperators(reads))([row.id]);
  const requests = new OpenRequests();
  const session = newOperatorSession({
    sid: "op-1",
    digest: "",
    roles: [],
    created_at: 0,
    seen_at: 0,
    api_key: "key_1",
  });
  const connection = new OperatorConnection(peer.socket, { onText: () => {}, onClose: () => {}, now: () => 0 });
  session.connection = connection;
  assert.deepEqual([requests.add(request), requests.add(request)], [true, false]);
  requests.unassign(request);
  assert.deepEqual(requests.unassignedFor("builder"), [request]);
  requests.assign(request, session);
  assert.deepEqual(requests.unassignedFor("builder"), []);
  connection.sentWaits.add(row.id);
  requests.remove(row.id);
  assert.deepEqual([session.requests.size, connection.sentWaits.size, requests.get(row.id)], [0, 0, undefined]);
});

test("a request for `any` that was not sent before the connection was lost goes to another operator", async (t) => {
  const kit = await openKit(t, tempFolder(t));
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  t.after(() => server.close());
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  const client = new WebSocket(`ws://127.0.0.1:${address.port}`);
  const [stalled]: WebSocket[] = await once(server, "connection");
  assert.ok(stalled !== undefined);
  // Never reads enough for more than the first batch.
  Object.defineProperty(stalled, "bufferedAmount", { value: 1024 * 1024 });
  const { sid } = await joined(kit);
  kit.hub.connect(sid, stalled);
  const tasks = new Set<string>();
  for (let count = 0; count < 40; count += 1) tasks.add((await kit.engine.start(operatorTask())).task);
  await until(() => kit.hub.info(sid)?.pending === 40);
  const peer = await connected(kit, (await joined(kit)).sid);
  client.terminate();
  await until(() => kit.hub.info(sid)?.connected === false);
  const held = kit.hub.info(sid)?.pending ?? 0;
  assert.ok(held > 0 && held < 40, "what has gone out stays");
  for (let count = held; count < 40; count += 1) {
    const { task_id, redelivered } = await peer.next("spawn");
    assert.deepEqual([tasks.delete(task_id), redelivered], [true, undefined]);
  }
});
