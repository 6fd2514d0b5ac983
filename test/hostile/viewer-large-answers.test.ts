// A viewer asks for everything at once, and does not read the answers: the daemon's memory stays within a fixed bound.

import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { DaemonProcess } from "../e2e/daemon-process.ts";
import { type Reply, send } from "../e2e/send-json.ts";
import { residentBytes } from "../fuzz/memory-growth.ts";
import { type LargeState, makeLargeState } from "../support/large-state.ts";
import { neverReads } from "../support/never-reads.ts";

const mebibyte = 2 ** 20;
/**
 * How far above its idle memory the daemon may come: pages, unread replies, and what the collector has not collected yet.
 * The last is most of it, since long goals and messages are read one after the other and dropped.
 */
const room = 512 * mebibyte;
/** Generous, because the tests of other files run at the same time. */
const slowestHealthMs = 3_000;

function listsOf({ root, child, conversation }: LargeState): string[] {
  return [
    "/v1/tasks?limit=200",
    "/v1/tasks?limit=200&roots=false",
    `/v1/tasks/${root}/tree?limit=1000`,
    "/v1/asks?limit=200",
    "/v1/waits?limit=200",
    "/v1/events?limit=1000",
    `/v1/tasks/${root}/events?limit=1000`,
    `/v1/tasks/${child}/messages?limit=1000`,
    `/v1/tasks/${child}/steps?limit=1000`,
    `/v1/conversations/${conversation}`,
    "/v1/goals?limit=100",
    "/v1/sessions?limit=100",
    "/v1/schedules",
    "/v1/workspaces",
    "/v1/operators",
    "/v1/agents",
    "/v1/models",
  ];
}

/** Looks at the daemon from outside: the most memory it had, and the longest it took to say that it is alive. */
function watch(daemon: DaemonProcess) {
  const seen = { bytes: 0, healthMs: 0 };
  let over = false;
  const memory = (async () => {
    for (; !over; await sleep(20)) seen.bytes = Math.max(seen.bytes, residentBytes(daemon.pid) ?? 0);
  })();
  const health = (async () => {
    for (; !over; await sleep(50)) {
      const began = Date.now();
      assert.equal((await send(daemon.url, { path: "/healthz" })).status, 200);
      seen.healthMs = Math.max(seen.healthMs, Date.now() - began);
    }
  })();
  return async () => {
    over = true;
    await Promise.all([memory, health]);
    return seen;
  };
}

const codeIn = ({ status, json }: Reply): unknown[] => [status, (json as { code?: unknown }).code];

test("a viewer that asks for every list at once, and never reads, costs the daemon a fixed amount of memory", async (t) => {
  const daemon = new DaemonProcess();
  t.after(() => daemon.close());
  const names = await makeLargeState(daemon.state, {
    results: 120,
    waits: 20,
    bytes: mebibyte,
    rootBytes: 6 * mebibyte,
  });
  await daemon.up();
  const client = daemon.client();
  const viewer = await client.addKey({ name: "looks", role: "viewer" });
  const other = await client.addKey({ name: "works", role: "operator" });
  const lists = listsOf(names);
  const ask = (path: string, bearer = viewer.key): Promise<Reply> => send(daemon.url, { path, bearer });
  for (const path of ["/v1/tasks?limit=1", "/v1/operators", "/v1/models"]) assert.equal((await ask(path)).status, 200);
  const idle = residentBytes(daemon.pid) ?? 0;
  const allowed = idle + room;

  const reading = watch(daemon);
  for (let turn = 0; turn < 8; turn += 1) {
    for (const { status, text } of await Promise.all(lists.map((path) => ask(path)))) {
      assert.ok(status === 200 || status === 429, text.slice(0, 200));
      // A page ends with the item that reaches its length.
      assert.ok(text.length < 8 * mebibyte, `a page of ${text.length} characters`);
    }
  }
  const read = await reading();
  assert.ok(read.bytes < allowed, `${read.bytes} bytes after lists that are read, ${idle} when idle`);
  assert.ok(read.healthMs < slowestHealthMs, `${read.healthMs} ms to say that it is alive`);

  const ignoring = watch(daemon);
  const { root } = names;
  const whole = [`/v1/tasks/${root}`, `/v1/tasks/${root}/result`, `/v1/tasks/${root}/export`, "/openapi.json"];
  const sockets: Socket[] = [];
  t.after(() => sockets.forEach((socket) => socket.destroy()));
  for (let turn = 0; turn < 12; turn += 1) {
    for (const path of [...lists, ...whole]) sockets.push(neverReads(daemon.url, { path, key: viewer.key }));
    for (const path of ["/v1/events", `/v1/tasks/${root}/events`]) {
      sockets.push(neverReads(daemon.url, { path, key: viewer.key, accept: "text/event-stream" }));
    }
    await sleep(50);
  }
  await sleep(1_500);
  let refused = await ask(`/v1/tasks/${root}/result`);
  // On a slow machine the daemon takes its time until it has taken all of these requests.
  for (let tries = 0; tries < 50 && refused.status !== 429; tries += 1, await sleep(100)) {
    refused = await ask(`/v1/tasks/${root}/result`);
  }
  assert.deepEqual(codeIn(refused), [429, "slow_down"], refused.text.slice(0, 200));
  assert.equal((await ask("/v1/tasks?limit=200", other.key)).status, 200, "another key is served");
  const ignored = await ignoring();
  assert.ok(ignored.bytes < allowed, `${ignored.bytes} bytes after lists that are not read, ${idle} when idle`);
  assert.ok(ignored.healthMs < slowestHealthMs, `${ignored.healthMs} ms to say that it is alive`);

  for (const socket of sockets) socket.destroy();
  let again = await ask(`/v1/tasks/${root}/result`);
  for (let tries = 0; tries < 100 && again.status === 429; tries += 1, await sleep(20)) {
    again = await ask(`/v1/tasks/${root}/result`);
  }
  assert.equal(again.status, 200);
  assert.ok(again.text.length > 6 * mebibyte, "the whole result is one request");
});

test("one key may have only so many requests in flight; then it is told to wait, and others are not", async (t) => {
  const daemon = new DaemonProcess({ args: ["--max-requests", "4"] });
  t.after(() => daemon.close());
  await daemon.up();
  const client = daemon.client();
  const viewer = await client.addKey({ name: "looks", role: "viewer" });
  const sockets = Array.from({ length: 4 }, () =>
    neverReads(daemon.url, { path: "/v1/events", key: viewer.key, accept: "text/event-stream" }),
  );
  t.after(() => sockets.forEach((socket) => socket.destroy()));
  const ask = async (): Promise<number> => (await fetched()).status;
  const fetched = (): Promise<Response> =>
    fetch(`${daemon.url}/v1/tasks`, { headers: { authorization: `Bearer ${viewer.key}` } });
  let status = await ask();
  for (let tries = 0; tries < 100 && status === 200; tries += 1, await sleep(20)) status = await ask();
  const refused = await fetched();
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get("retry-after")) > 0);
  assert.match(await refused.text(), /4 requests of this key are in flight/);
  assert.deepEqual(await client.asks(), [], "another key is served");
  for (const socket of sockets) socket.destroy();
  for (let tries = 0; tries < 100 && status !== 200; tries += 1, await sleep(20)) status = await ask();
  assert.equal(status, 200, "and so is this one when they have ended");
});
