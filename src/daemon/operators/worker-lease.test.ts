import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import {
  connected,
  eventOf,
  type FrameOf,
  joined,
  type Kit,
  killed,
  openKit,
  operatorTask,
  passed,
  type Peer,
} from "../../../test/support/operator-kit.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";

const minute = 60_000;

interface Spawned {
  kit: Kit;
  sid: string;
  peer: Peer;
  task: string;
  spawn: FrameOf<"spawn">;
  handle: string;
}

async function spawned(t: TestContext, config: Record<string, unknown> = {}): Promise<Spawned> {
  const kit = await openKit(t, tempFolder(t));
  const { sid } = await joined(kit, "builder");
  const peer = await connected(kit, sid);
  const { task } = await kit.engine.start(operatorTask({ operator: "builder", ...config }));
  const spawn = await peer.next("spawn");
  return { kit, sid, peer, task, spawn, handle: spawn.worker_handle ?? "" };
}

/** The error the task failed with. */
async function failureOf(kit: Kit, task: string): Promise<{ code: string; message: string }> {
  assert.equal((await kit.engine.result(task)).status, "failed");
  return (await eventOf(kit, "task.failed", task)).data.error;
}

async function isOver(kit: Kit, task: string): Promise<boolean> {
  await passed(kit, 0);
  const { events: ended } = await kit.feed.read({ after: 0, limit: 10_000 });
  return ended.some(({ event }) => event.task === task && /^task\.(completed|failed|canceled)$/.test(event.type));
}

async function answer(kit: Kit, task: string, value: string): Promise<void> {
  const { data } = await eventOf(kit, "ask.raised", task);
  const delivery = await kit.engine.deliver(data.ask.id, { kind: "question", value }, { kind: "person", name: "Ada" });
  assert.equal(delivery.outcome, "accepted");
}

const progress = (kit: Kit, bearer: string) =>
  kit.workers.events(bearer, { events: [{ type: "progress", text: "on it" }] });

test("spawn_ack with {} and no POST does not pass the task with {}: it waits, and the POST is the result", async (t) => {
  const { kit, task, peer, spawn, handle } = await spawned(t);
  peer.send({ type: "spawn_ack", req_id: spawn.req_id, value: {}, ok: true });
  await peer.settled();
  assert.equal(await isOver(kit, task), false);
  await kit.workers.submit(handle, "the work", {});
  assert.equal((await kit.engine.result(task)).content, "the work");
});

test("an acknowledged spawn whose worker never comes is unknown when its lease ends", async (t) => {
  const { kit, task, peer, spawn } = await spawned(t);
  peer.send({ type: "spawn_ack", req_id: spawn.req_id });
  await peer.settled();
  await passed(kit, 29 * minute);
  assert.equal(await isOver(kit, task), false);
  await passed(kit, minute);
  await answer(kit, task, "give up");
  assert.equal((await failureOf(kit, task)).code, "outcome_unknown");
});

test("spawn_ack ok: false or with an error fails the attempt even after a POST", async (t) => {
  for (const ack of [{ ok: false }, { error: "it lied" }, { ok: true, error: "it lied" }]) {
    const { kit, task, peer, spawn, handle } = await spawned(t);
    assert.equal((await kit.workers.submit(handle, "looks fine", {})).ok, true);
    assert.equal(await isOver(kit, task), false);
    peer.send({ type: "spawn_ack", req_id: spawn.req_id, ...ack });
    const { code, message } = await failureOf(kit, task);
    assert.equal(code, "task_failed");
    if ("error" in ack) assert.equal(message, "coder failed: it lied");
  }
});

test("a posted result stands after half a minute, or sooner when the operator's word has no complaint", async (t) => {
  const silent = await spawned(t);
  await silent.kit.workers.submit(silent.handle, "posted", {});
  await passed(silent.kit, 29_999);
  assert.equal(await isOver(silent.kit, silent.task), false);
  await passed(silent.kit, 1);
  assert.equal((await silent.kit.engine.result(silent.task)).content, "posted");
  const said = await spawned(t);
  await said.kit.workers.submit(said.handle, "posted", {});
  said.peer.send({ type: "spawn_ack", req_id: said.spawn.req_id, value: "another value", ok: true });
  assert.equal((await said.kit.engine.result(said.task)).content, "posted");
});

test("a worker silent past its lease: a person is asked, and a result that comes meanwhile counts (invariant 1)", async (t) => {
  const { kit, task, handle } = await spawned(t, { ack_ms: 0 });
  await kit.workers.prompt(handle, { task_id: task });
  await progress(kit, handle);
  await passed(kit, 2 * minute);
  const { data } = await eventOf(kit, "ask.raised", task);
  assert.deepEqual(data.ask.choices, ["offer it again", "give up"]);
  assert.equal((await kit.workers.submit(handle, "slow but there", {})).ok, true);
  assert.equal((await kit.engine.result(task)).content, "slow but there");
  await eventOf(kit, "ask.withdrawn", task);
});

test("a worker that is heard of again takes the question back", async (t) => {
  const { kit, task, handle } = await spawned(t, { ack_ms: 0 });
  await progress(kit, handle);
  await passed(kit, 2 * minute);
  await eventOf(kit, "ask.raised", task);
  await progress(kit, handle);
  await eventOf(kit, "ask.withdrawn", task);
  await passed(kit, 2 * minute - 1);
  assert.equal(kit.store.openWaits().filter(({ body }) => body.startsWith('{"ask"')).length, 0);
  await passed(kit, 1);
  assert.equal(kit.store.openWaits().filter(({ body }) => body.startsWith('{"ask"')).length, 1);
});

test("what is not declared repeatable is offered again only when a person says so, with the old token dead", async (t) => {
  const { kit, task, handle, peer } = await spawned(t, { ack_ms: 0 });
  await kit.workers.prompt(handle, { task_id: task });
  await progress(kit, handle);
  await passed(kit, 2 * minute);
  await answer(kit, task, "offer it again");
  const second = await peer.next("spawn");
  assert.equal(second.attempt, 2);
  const late = await kit.workers.submit(handle, "too late", {});
  assert.equal(late.ok ? "" : late.reason, "wrong_attempt");
  await kit.workers.submit(second.worker_handle, "second", {});
  assert.equal((await kit.engine.result(task)).content, "second");
});

test("if nobody answers the question about a silent worker, the task fails as outcome_unknown (invariant 8)", async (t) => {
  const { kit, task, handle } = await spawned(t, { deadline_ms: 72 * 60 * minute });
  await progress(kit, handle);
  await passed(kit, 2 * minute);
  await eventOf(kit, "ask.raised", task);
  await passed(kit, 24 * 60 * minute);
  assert.equal((await failureOf(kit, task)).code, "outcome_unknown");
});

test("a repeatable task is offered again by itself, at most so often", async (t) => {
  const { kit, task, peer, spawn } = await spawned(t, { repeatable: true });
  let frame = spawn;
  for (let attempt = 1; attempt < 8; attempt += 1) {
    await progress(kit, frame.worker_handle ?? "");
    await passed(kit, 2 * minute);
    frame = await peer.next("spawn");
    assert.equal(frame.attempt, attempt + 1);
  }
  await progress(kit, frame.worker_handle ?? "");
  await passed(kit, 2 * minute);
  assert.equal((await failureOf(kit, task)).code, "refused");
});

test("the lease is the token's life until the first progress post and two minutes after each", async (t) => {
  const { kit, task, handle, peer } = await spawned(t, { repeatable: true });
  await kit.workers.prompt(handle, { task_id: task });
  await passed(kit, 29 * minute);
  const posted = await progress(kit, handle);
  assert.ok(posted.ok);
  let token = posted.value.capability_token;
  for (let n = 0; n < 5; n += 1) {
    await passed(kit, 2 * minute - 1);
    const again = await progress(kit, token);
    assert.ok(again.ok);
    token = again.value.capability_token;
  }
  assert.equal(peer.frames.length, 1);
  await passed(kit, 2 * minute);
  assert.equal((await peer.next("spawn")).attempt, 2);
});

test("a worker that only asks is alive: its polls keep the lease", async (t) => {
  const { kit, task, handle, peer } = await spawned(t, { repeatable: true });
  const posted = await progress(kit, handle);
  assert.ok(posted.ok);
  for (let n = 0; n < 5; n += 1) {
    await passed(kit, minute);
    const asked = await kit.workers.ask(
      handle,
      { key: "k", question: "which?", wait_ms: 0 },
      new AbortController().signal,
    );
    assert.equal(asked.ok, true);
  }
  assert.equal(await isOver(kit, task), false);
  assert.equal(peer.frames.length, 1);
});

test("after a restart a worker has at least two more minutes, and no less than it had", async (t) => {
  const first = await spawned(t, { repeatable: true });
  await progress(first.kit, first.handle);
  await passed(first.kit, minute);
  first.kit.clock.advance(59_000);
  const kit = await killed(t, first.kit);
  kit.clock.advance(minute);
  await passed(kit, 59_000);
  const peer = await connected(kit, first.sid);
  await peer.settled();
  assert.deepEqual(peer.frames, [], "still in its lease, and not offered again");
  await passed(kit, 1_000);
  assert.equal((await peer.next("spawn")).attempt, 2);
});

test("an offer nobody takes up is no lapse: it stands until its deadline, and then the task fails", async (t) => {
  const kit = await openKit(t, tempFolder(t));
  const { task } = await kit.engine.start(operatorTask({ operator: "nobody", deadline_ms: 120 * minute }));
  await eventOf(kit, "wait.opened", task);
  for (let n = 0; n < 3; n += 1) await passed(kit, 30 * minute);
  assert.equal(await isOver(kit, task), false);
  await passed(kit, 30 * minute);
  assert.equal((await failureOf(kit, task)).code, "deadline");
});

test("a result recorded in the moment the operator's own value came stands", async (t) => {
  for (let n = 0; n < 10; n += 1) {
    const { kit, task, peer, spawn, handle } = await spawned(t, { ack_ms: 0 });
    peer.send({ type: "spawn_ack", req_id: spawn.req_id, value: "the operator's" });
    for (let turn = 0; turn < n * 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    const posted = await kit.workers.submit(handle, "the worker's", {});
    const { content } = await kit.engine.result(task);
    assert.equal(content, posted.ok ? "the worker's" : "the operator's");
    await kit.stop();
  }
});

test("a config that cannot be used fails the task and says why", async (t) => {
  const kit = await openKit(t, tempFolder(t));
  const { task } = await kit.engine.start(operatorTask({ operator: "builder", dead_line: 1 }));
  assert.match((await failureOf(kit, task)).message, /operator runner.*cannot be used: .*dead_line/);
});
