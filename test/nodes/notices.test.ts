// Notices of a service that runs on several nodes: one of them sends each, and another goes on when that one is gone.

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";

import { startNotifier } from "../../src/daemon/notify/start-notifier.ts";
import { Notice } from "../../src/daemon/notify/notice.ts";
import { NotifyConfig } from "../../src/daemon/notify/notify-config.ts";
import { systemClock } from "../../src/engine/clock.ts";
import { bodyOf } from "../support/loopback-server.ts";
import { type ServingNode, serveNode } from "../support/serving-node.ts";
import { postgresPrograms } from "../support/postgres-server.ts";
import { newDatabase, sharedServer } from "../support/stores.ts";
import { type Cleanup } from "../support/temp-folder.ts";
import { until } from "../support/wait-until.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
after(() => {
  if (skip === false) sharedServer().stop();
});

async function receiver(t: Cleanup): Promise<{ readonly url: string; readonly received: Notice[] }> {
  const received: Notice[] = [];
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      received.push(Notice.parse(JSON.parse(body)));
      response.writeHead(204).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, received };
}

function notify(t: Cleanup, { state }: ServingNode, url: string): ReturnType<typeof startNotifier> {
  const { store, view, records, feed, shared = assert.fail() } = state;
  const notifier = startNotifier({
    config: NotifyConfig.parse({ webhook: { url, secret_env: "SECRET" }, desktop: false }),
    store,
    view,
    records,
    feed,
    log: { info() {}, warn() {}, error() {} },
    clock: systemClock,
    env: { SECRET: "0123456789abcdef" },
    takeTurn: () => shared.takeTurn("notices"),
  });
  t.after(() => notifier.close());
  return notifier;
}

const example = readFileSync(join(import.meta.dirname, "../../examples/invocations/single.json"), "utf8");

/** Work that this node runs; the name of its root. */
async function finishedAt({ state, folder }: ServingNode): Promise<string> {
  const { task } = await state.client.invoke(example, { folder });
  await state.client.settled(task);
  return task;
}

test("each notice is sent by one node, whichever node ran the task, and another node goes on", { skip }, async (t) => {
  const address = newDatabase();
  const a = await serveNode(t, address, { name: "a", leaseMs: 2_000 });
  const b = await serveNode(t, address, { name: "b", leaseMs: 2_000 });
  const { url, received } = await receiver(t);
  const first = notify(t, a, url);
  await until(() => a.state.records.setting("notified") !== undefined, "the first one has its turn");
  notify(t, b, url);
  const roots = [await finishedAt(a), await finishedAt(b), await finishedAt(a)];
  await until(() => received.length === roots.length, "all of them are told of");

  await until(() => a.state.records.notices().length === 0, "that they were sent is recorded");

  // What ends while nobody sends notices is told of by the next node.
  await first.close();
  roots.push(await finishedAt(b));
  await a.close();
  roots.push(await finishedAt(b));
  await until(() => received.length >= roots.length, "the next node goes on");
  assert.deepEqual(received.map(({ root }) => root).toSorted(), roots.toSorted());
  assert.equal(new Set(received.map(({ id }) => id)).size, roots.length);
});
