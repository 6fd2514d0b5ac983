// An admin key at an operator's socket: it can end the operator session, and cannot speak in the operator's name.
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";

import { WebSocket } from "ws";

import { daemonFor } from "../e2e/daemon-process.ts";
import { scenarioOf } from "../e2e/scenario.ts";
import { type Reply, send } from "../e2e/send-json.ts";
import { joinAs } from "../e2e/wire-operator.ts";

test("an admin key neither opens another operator's socket nor gets a ticket for it", async (t) => {
  const daemon = await daemonFor(t);
  const { client } = scenarioOf(daemon);
  const theirs = await client.addKey({ name: "theirs", role: "operator" });
  const operator = await joinAs(daemon, ["theirs"], theirs.key);
  t.after(() => operator.close());
  const socket = await operator.connect();
  const statusOf = async (bearer: string): Promise<number> => {
    const address = `${daemon.url.replace("http", "ws")}/v1/operators/${operator.sid}/ws`;
    const opened = new WebSocket(address, ["tutti.v1"], { headers: { authorization: `Bearer ${bearer}` } });
    opened.on("error", () => undefined);
    const status = await Promise.race([
      once(opened, "open").then(() => 101),
      new Promise<number>((resolve) =>
        opened.on("unexpected-response", (_, { statusCode }) => resolve(statusCode ?? 0)),
      ),
    ]);
    opened.terminate();
    return status;
  };
  const ticketFor = (bearer: string): Promise<Reply> =>
    send(daemon.url, { method: "POST", path: `/v1/operators/${operator.sid}/ticket`, bearer });

  assert.equal(await statusOf(daemon.key), 403);
  const refused = await ticketFor(daemon.key);
  assert.equal(refused.status, 403, refused.text);
  assert.match(refused.text, /may not speak for this operator/);
  assert.equal((await client.operators())[0]?.connected, true, "its own connection was not replaced");

  assert.equal((await ticketFor(theirs.key)).status, 200, "the key that it joined with may");
  const ending = { method: "DELETE", path: `/v1/operators/${operator.sid}`, bearer: daemon.key } as const;
  assert.equal((await send(daemon.url, ending)).status, 204, "an admin may end it");
  assert.equal((await socket.closed).code, 1000);
});
