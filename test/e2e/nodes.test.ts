// Several daemons on one PostgreSQL are one Tutti: any of them takes any request, and a lost one loses nothing.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

import type { Tutti } from "../../src/client/client.ts";
import { nodeProcesses } from "../support/node-processes.ts";
import { postgresPrograms } from "../support/postgres-server.ts";
import { sharedServer } from "../support/stores.ts";
import { failsWith } from "../support/try-tool.ts";
import { slowInvocation } from "../support/up-process.ts";
import { until } from "../support/wait-until.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
after(() => {
  if (skip === false) sharedServer().stop();
});

const askInvocation = readFileSync(
  join(import.meta.dirname, "..", "..", "examples", "invocations", "ask.json"),
  "utf8",
);
const person = { kind: "person", name: "someone" } as const;
const soon = (): AbortSignal => AbortSignal.timeout(240_000);

async function openAsk(tutti: Tutti, not?: string): Promise<string> {
  return until(async () => (await tutti.asks()).find(({ id }) => id !== not)?.id, "a question is open");
}

test("what one node runs is seen, asked about, answered, stopped and canceled at another", { skip }, async (t) => {
  const nodes = nodeProcesses(t, { leaseSeconds: 30 });
  const [a, b] = [await nodes.start("a"), await nodes.start("b")];
  const { task } = await a.tutti.invoke(askInvocation, { folder: a.folder });
  const first = await openAsk(b.tutti);
  assert.deepEqual(await b.tutti.answer(first, { kind: "question", value: "red" }, person), { accepted: true });
  const second = await openAsk(a.tutti, first);
  assert.equal(
    (await a.tutti.answer(first, { kind: "question", value: "blue" }, person)).accepted,
    false,
    "it was answered before",
  );
  assert.deepEqual(await b.tutti.answer(second, { kind: "approval", approved: true }, person), { accepted: true });
  assert.deepEqual((await b.tutti.result(task, soon())).content, (await a.tutti.result(task, soon())).content);
  await b.tutti.settled(task, soon());

  const slow = await a.tutti.invoke(readFileSync(slowInvocation(a.folder, 60_000), "utf8"), { folder: a.folder });
  const leaf = await until(
    async () => (await b.tutti.tree(slow.task)).find(({ status, id }) => id !== slow.task && status === "running"),
    "it runs",
  );
  assert.equal(await b.tutti.stopTask(leaf.id, "not now"), leaf.id);
  await until(async () => (await a.tutti.task(leaf.id)).status === "input_required", "it is stopped");
  assert.deepEqual(await b.tutti.cancel(slow.task, "enough"), [slow.task, leaf.id]);
  assert.equal((await a.tutti.result(slow.task, soon())).status, "canceled");

  const { seq } = await a.tutti.status();
  const [fromA, fromB] = await Promise.all([a.tutti, b.tutti].map((tutti) => eventsOf(tutti, seq)));
  assert.deepEqual(fromA, fromB, "both nodes tell the same events in the same order");
});

async function eventsOf(tutti: Tutti, upTo: number): Promise<unknown[]> {
  const seen: unknown[] = [];
  for await (const { event } of followed(tutti, upTo)) seen.push(event);
  return seen;
}

async function* followed(tutti: Tutti, upTo: number): AsyncGenerator<{ readonly event: { readonly seq: number } }> {
  for await (const item of tutti.follow({ after: 0 })) {
    if (!("event" in item)) continue;
    yield item;
    if (item.event.seq >= upTo) return;
  }
}

test("a pause and a revoked key hold on every node when the request returns", { skip }, async (t) => {
  const nodes = nodeProcesses(t, { leaseSeconds: 30 });
  const [a, b] = [await nodes.start("a"), await nodes.start("b")];
  const { key, id } = await a.tutti.addKey({ name: "helper", role: "viewer" });
  assert.equal((await b.as(key).status()).paused, false);
  await a.tutti.pause();
  assert.equal((await b.tutti.status()).paused, true);
  const { task } = await b.tutti.invoke(askInvocation, { folder: b.folder });
  assert.equal((await b.tutti.task(task)).status, "pending");
  await b.tutti.resume();
  assert.equal((await a.tutti.status()).paused, false);
  await openAsk(a.tutti);
  await a.tutti.revokeKey(id);
  await assert.rejects(b.as(key).status(), failsWith("unauthorized", /key/));
});

test("the work of a node that is killed goes on at another within its lease, each step once", { skip }, async (t) => {
  const nodes = nodeProcesses(t);
  const [a, b] = [await nodes.start("a"), await nodes.start("b")];
  const { task } = await a.tutti.invoke(askInvocation, { folder: a.folder });
  const ask = await openAsk(b.tutti);
  await a.kill();
  assert.deepEqual(
    await b.tutti.answer(ask, { kind: "question", value: "red" }, person),
    { accepted: true },
    "it waits for the new owner",
  );
  const next = await openAsk(b.tutti, ask);
  await b.tutti.answer(next, { kind: "approval", approved: true }, person);
  assert.equal((await b.tutti.result(task, soon())).status, "completed");
  const again = await nodes.start("a");
  assert.equal((await again.tutti.result(task, soon())).status, "completed");
});

test(
  "a node that was frozen past its lease finds itself replaced, joins anew and serves again",
  { skip },
  async (t) => {
    const nodes = nodeProcesses(t);
    const [a, b] = [await nodes.start("a"), await nodes.start("b")];
    const { task } = await a.tutti.invoke(askInvocation, { folder: a.folder });
    const ask = await openAsk(b.tutti);
    a.freeze();
    assert.deepEqual(await b.tutti.answer(ask, { kind: "question", value: "blue" }, person), { accepted: true });
    a.thaw();
    await until(() => a.said().includes("this node joins anew"), "it finds out");
    const next = await openAsk(b.tutti, ask);
    const answered = await until(
      async () => a.tutti.answer(next, { kind: "approval", approved: true }, person).catch(() => undefined),
      "it is back",
    );
    assert.deepEqual(answered, { accepted: true });
    assert.equal((await a.tutti.result(task, soon())).status, "completed");
  },
);

test("the same idempotency key at two nodes at once starts one tree", { skip }, async (t) => {
  const nodes = nodeProcesses(t, { leaseSeconds: 30 });
  const [a, b] = [await nodes.start("a"), await nodes.start("b")];
  for (let round = 0; round < 5; round += 1) {
    const started = await Promise.all(
      [a, b, a, b].map(({ tutti }) => tutti.invoke(askInvocation, { folder: a.folder, key: `key-${round}` })),
    );
    assert.equal(new Set(started.map(({ task }) => task)).size, 1, "one tree");
    assert.equal(started.filter(({ existed }) => !existed).length, 1, "started once");
  }
});

test("a node that is stopped hands its work over at once", { skip }, async (t) => {
  const nodes = nodeProcesses(t, { leaseSeconds: 60 });
  const [a, b] = [await nodes.start("a"), await nodes.start("b")];
  const { task } = await a.tutti.invoke(askInvocation, { folder: a.folder });
  const ask = await openAsk(b.tutti);
  a.child.kill("SIGTERM");
  assert.equal(await a.ended, 0, a.said());
  assert.deepEqual(await b.tutti.answer(ask, { kind: "question", value: "red" }, person), { accepted: true });
  const next = await openAsk(b.tutti, ask);
  await b.tutti.answer(next, { kind: "approval", approved: false }, person);
  assert.deepEqual((await b.tutti.result(task, soon())).status, "completed");
});
