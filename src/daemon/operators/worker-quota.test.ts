import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import {
  allEvents,
  connected,
  joined,
  type Kit,
  type KitOptions,
  openKit,
  operatorTask,
} from "../../../test/support/operator-kit.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { TuttiError } from "../../protocol/error.ts";
import { idInName } from "../../store/names.ts";
import { WorkerQuotas } from "./worker-quota.ts";
import type { WorkerReply } from "./worker-reply.ts";

async function spawned(t: TestContext, options: KitOptions): Promise<{ kit: Kit; task: string; handle: string }> {
  const kit = await openKit(t, tempFolder(t), options);
  const peer = await connected(kit, (await joined(kit, "builder")).sid);
  const { task } = await kit.engine.start(operatorTask({ operator: "builder", ack_ms: 0 }));
  return { kit, task, handle: (await peer.next("spawn")).worker_handle ?? "" };
}

const outcome = (reply: WorkerReply<unknown>): string => (reply.ok ? "ok" : reply.reason);
const signal = new AbortController().signal;

test("a worker posts and asks no more than its attempt may; its result is taken all the same", async (t) => {
  const workerQuotas = new WorkerQuotas({
    workerEvents: { count: 3, bytes: 300 },
    workerAsks: { count: 2, bytes: 10_000 },
  });
  const { kit, task, handle } = await spawned(t, { workerQuotas });
  const post = async (...texts: readonly string[]): Promise<string> =>
    outcome(await kit.workers.events(handle, { events: texts.map((text) => ({ type: "progress", text })) }));
  assert.equal(await post("one", "two"), "ok");
  assert.equal(await post("three", "four"), "too_many_events");
  assert.equal(await post("x".repeat(300)), "posted_too_much");
  assert.equal(await post("字".repeat(90)), "posted_too_much", "270 bytes, although only 90 letters");
  assert.equal(await post("three"), "ok");
  assert.equal(await post("four"), "too_many_events");
  const ask = async (key: string): Promise<string> =>
    outcome(await kit.workers.ask(handle, { key, question: key, wait_ms: 0 }, signal));
  assert.deepEqual([await ask("a"), await ask("b"), await ask("c")], ["ok", "ok", "too_many_asks"]);
  assert.equal(outcome(await kit.workers.submit(handle, "done", {})), "ok");
  assert.equal((await kit.engine.result(task)).content, "done");
});

test("what was posted before a restart counts, and another attempt begins anew", async (t) => {
  const limits = { workerEvents: { count: 3, bytes: 10_000 }, workerAsks: { count: 2, bytes: 10_000 } };
  const { kit, task, handle } = await spawned(t, { workerQuotas: new WorkerQuotas(limits) });
  const post = async (text: string): Promise<string> =>
    outcome(await kit.workers.events(handle, { events: [{ type: "progress", text }] }));
  const ask = async (key: string): Promise<string> =>
    outcome(await kit.workers.ask(handle, { key, question: key, wait_ms: 0 }, signal));
  assert.deepEqual([await post("one"), await post("two"), await ask("a")], ["ok", "ok", "ok"]);
  await kit.engine.message(task, { name: null, role: "user", parts: [{ part_type: "text", data: '"worker_ask": 1' }] });
  await kit.store.committed();
  const id = idInName(kit.store.salt, task) ?? 0;
  const restarted = new WorkerQuotas(limits);
  const take = (name: "workerEvents" | "workerAsks", attempt: number, count: number): string | undefined => {
    const posted = Array.from({ length: count }, () => "x");
    return restarted.take(name, { store: kit.store, rights: { task: id, attempt }, posted })?.reason;
  };
  assert.equal(take("workerEvents", 1, 2), "too_many_events");
  assert.equal(take("workerEvents", 1, 1), undefined);
  assert.equal(take("workerAsks", 1, 2), "too_many_asks");
  assert.equal(take("workerAsks", 1, 1), undefined);
  assert.deepEqual(
    [1, 2].map((attempt) => kit.store.mailSent(id, attempt, "worker_event").count),
    [2, 0],
  );
});

test("a post with a key that is refused for want of room is not taken for recorded when it comes again", async (t) => {
  let full: TuttiError | undefined;
  const { kit, task, handle } = await spawned(t, { refusesWork: () => full });
  const post = () => kit.workers.events(handle, { key: "k", events: [{ type: "progress", text: "half done" }] });
  full = new TuttiError("disk_full", "the disk is almost full");
  await assert.rejects(post(), { code: "disk_full" });
  full = undefined;
  assert.equal(outcome(await post()), "ok");
  assert.equal(outcome(await post()), "ok");
  await kit.workers.submit(handle, "done", {});
  await kit.engine.result(task);
  const told = JSON.stringify(await allEvents(kit));
  assert.equal(told.split("half done").length - 1, 1);
});
