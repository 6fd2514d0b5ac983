// A stranger that opens sockets and sends nothing, to a real daemon: everybody else is served, and its sockets are closed.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { type DaemonProcess, daemonFor } from "../e2e/daemon-process.ts";
import { talking } from "../e2e/scenario-invocations.ts";
import { scenarioOf } from "../e2e/scenario.ts";
import { joinAs } from "../e2e/wire-operator.ts";
import { until, within } from "../support/wait-until.ts";

/** Of 64 connections 16 are for strangers, and 8 for those of one address. */
const args = ["--max-connections", "64"];
const ofAddress = 8;

interface Attack {
  readonly open: Set<Socket>;
  /** Opens sockets that are as far as the sent text says. */
  more(count: number, sent?: string, from?: string): Promise<void>;
}

function attackOn(t: TestContext, daemon: DaemonProcess): Attack {
  const open = new Set<Socket>();
  t.after(() => open.forEach((socket) => socket.destroy()));
  return {
    open,
    async more(count, sent = "", from = "127.0.0.1") {
      const opened = Array.from({ length: count }, async () => {
        const port = Number(new URL(daemon.url).port);
        const socket = connect({ host: "127.0.0.1", port, localAddress: from });
        open.add(socket);
        socket.on("close", () => open.delete(socket)).on("error", () => undefined);
        socket.resume();
        await Promise.race([once(socket, "connect"), once(socket, "close")]);
        if (sent !== "" && socket.writable) socket.write(sent);
      });
      await Promise.all(opened);
    },
  };
}

/** A new connection each time, as a health check makes. */
async function isHealthy(daemon: DaemonProcess): Promise<boolean> {
  const options = { headers: { connection: "close" }, signal: AbortSignal.timeout(240_000) };
  return (await fetch(`${daemon.url}/healthz`, options)).ok;
}

test("half-open sockets starve nobody: health checks, new callers and open connections go on", async (t) => {
  const daemon = await daemonFor(t, { args });
  const scenario = scenarioOf(daemon);
  const operator = await joinAs(daemon, ["builder"]);
  t.after(() => operator.close());
  const socket = await operator.connect();
  let dropped = false;
  void socket.closed.then(() => (dropped = true));
  const headers = { authorization: `Bearer ${daemon.key}`, accept: "text/event-stream" };
  const stream = await fetch(`${daemon.url}/v1/events`, { headers });
  const reader = stream.body?.getReader();
  t.after(() => reader?.cancel());

  const attack = attackOn(t, daemon);
  for (const sent of ["", "GET /healthz HT", "", "POST /v1/invocations HTTP/1.1\r\nHost: x\r\n", "\r\n"]) {
    await attack.more(60, sent);
    assert.ok(await isHealthy(daemon), "a health check is answered");
    const fresh = await fetch(`${daemon.url}/v1/status`, {
      headers: { authorization: `Bearer ${daemon.key}`, connection: "close" },
      signal: AbortSignal.timeout(240_000),
    });
    assert.equal(fresh.status, 200, "a caller with a key is served on a new connection");
    await until(() => attack.open.size <= ofAddress, "the stranger has only its share");
  }
  await attack.more(ofAddress);
  const neighbour = attackOn(t, daemon);
  await neighbour.more(2, "", "127.0.0.2");
  await attack.more(40);
  assert.equal(neighbour.open.size, 2, "another address does not pay for it");

  const task = await scenario.start(talking(1));
  assert.equal(await scenario.outcome(task), "completed: talked");
  assert.equal(dropped, false, "the operator is still connected");
  const read = await within(async () => reader?.read(), "the stream goes on", 3_000);
  assert.equal(read?.done, false);

  assert.ok(attack.open.size > 0);
  const end = Date.now() + 9_000;
  while (attack.open.size + neighbour.open.size > 0 && Date.now() < end) await sleep(50);
  assert.equal(attack.open.size + neighbour.open.size, 0, "idle sockets of strangers are closed after some seconds");
});

test("a stranger is not listened to: the body of a made-up worker is never read", async (t) => {
  const daemon = await daemonFor(t, { args });
  const { host, port } = new URL(daemon.url);
  const socket = connect({ host: "127.0.0.1", port: Number(port) });
  t.after(() => socket.destroy());
  let heard = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => (heard += chunk));
  const head = [
    "POST /v1/worker/submit HTTP/1.1",
    `Host: ${host}`,
    `Authorization: Bearer wh-${"0".repeat(32)}`,
    "Content-Type: text/plain",
    "Content-Length: 1000000",
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\nthe beginning`);
  await until(() => heard.includes("\r\n\r\n"), "a reply before the body has come");
  assert.match(heard, /^HTTP\/1\.1 401 [^]*unknown_handle/);
});
