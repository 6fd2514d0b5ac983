import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import {
  connected,
  eventOf,
  joined,
  type Kit,
  killed,
  openKit,
  operatorTask,
  passed,
} from "../../../test/support/operator-kit.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";

const minute = 60_000;
const senior = { operators: { senior: "lead" } };

async function spawned(t: TestContext, input: unknown, config: Record<string, unknown> = {}) {
  const kit = await openKit(t, tempFolder(t));
  const { sid } = await joined(kit, "builder", "lead");
  const peer = await connected(kit, sid);
  const { task } = await kit.engine.start(operatorTask({ operator: "builder", ...config }, input));
  const spawn = await peer.next("spawn");
  return { kit, sid, peer, task, spawn, handle: spawn.worker_handle ?? "" };
}

async function failureOf(kit: Kit, task: string) {
  assert.equal((await kit.engine.result(task)).status, "failed");
  const { error } = (await eventOf(kit, "task.failed", task)).data;
  return { code: error.code, message: error.message, retry: error.retry, value: error.details?.["value"] };
}

const blocked = { verdict: "blocked" } as const;

test("the senior is asked when a worker's result says that it failed, and retry offers the task again", async (t) => {
  const { kit, task, peer, handle } = await spawned(t, senior);
  assert.ok((await kit.workers.submit(handle, "the tests are red", blocked)).ok);
  const ask = await peer.next("ask");
  assert.partialDeepStrictEqual(ask.question, {
    details: { value: "the tests are red" },
    choices: ["retry", "accept as failed", "fail"],
  });
  peer.send({ type: "answer", req_id: ask.req_id, value: "completed" });
  assert.equal((await peer.next("error")).code, "invalid_answer", "nothing else can be answered, least of all success");
  peer.send({ type: "answer", req_id: ask.req_id, value: "retry" });
  const second = await peer.next("spawn");
  assert.equal(second.attempt, 2);
  await kit.workers.submit(second.worker_handle, "green now", {});
  peer.send({ type: "spawn_ack", req_id: second.req_id });
  assert.equal((await kit.engine.result(task)).content, "green now");
});

test("the senior can accept the failure with what was posted or let the task fail without it, over a kill too", async (t) => {
  for (const [choice, value] of [
    ["accept as failed", { red: ["a", "b"] }],
    ["fail", undefined],
  ] as const) {
    const first = await spawned(t, senior);
    const { task, handle, peer } = first;
    await first.kit.workers.result(handle, { task_id: task, value: { red: ["a", "b"] }, ok: false });
    await peer.next("ask");
    const kit = await killed(t, first.kit);
    const again = await connected(kit, first.sid);
    const ask = await again.next("ask");
    again.send({ type: "answer", req_id: ask.req_id, value: choice });
    const failure = await failureOf(kit, task);
    assert.deepEqual([failure.code, failure.value], ["task_failed", value]);
  }
});

test("if the senior does not answer in time, the task has failed with what was posted", async (t) => {
  const { kit, task, handle } = await spawned(t, senior);
  await kit.workers.submit(handle, "red", blocked);
  await eventOf(kit, "ask.raised", task);
  await passed(kit, 24 * 60 * minute);
  assert.deepEqual(await failureOf(kit, task), {
    code: "task_failed",
    message: "coder failed: red",
    retry: "never",
    value: "red",
  });
});

test("without a senior a failed result fails the task at once", async (t) => {
  const { kit, task, handle } = await spawned(t, "do it");
  await kit.workers.submit(handle, "red", blocked);
  assert.equal((await failureOf(kit, task)).value, "red");
});

test("spawn_ack with ok: false keeps its value, and the senior is asked about it as well", async (t) => {
  const { kit, task, peer, spawn } = await spawned(t, "do it");
  peer.send({ type: "spawn_ack", req_id: spawn.req_id, ok: false, value: { left: 3 } });
  assert.deepEqual((await failureOf(kit, task)).value, { left: 3 });
  const asked = await spawned(t, senior);
  asked.peer.send({ type: "spawn_ack", req_id: asked.spawn.req_id, ok: false, value: { left: 3 } });
  assert.partialDeepStrictEqual((await asked.peer.next("ask")).question, { details: { value: { left: 3 } } });
});

test("after an empty ack the operator can still report that the work failed, once", async (t) => {
  const { kit, task, peer, spawn, handle } = await spawned(t, "do it");
  const ack = (fields: object): void => peer.send({ type: "spawn_ack", req_id: spawn.req_id, ...fields });
  ack({});
  await peer.settled();
  await kit.workers.prompt(handle, { task_id: task });
  ack({ value: "instead of the worker" });
  assert.equal((await peer.next("error")).code, "already_answered", "a value comes from the worker now");
  ack({ ok: false, error: "the worker crashed" });
  assert.equal((await failureOf(kit, task)).message, "coder failed: the worker crashed");
  ack({ ok: false, error: "the worker crashed" });
  assert.equal((await peer.next("error")).code, "late");
  const late = await kit.workers.submit(handle, "done", {});
  assert.equal(late.ok ? "" : late.reason, "attempt_over");
});

test("invariant 1: a deadline that passes while a worker works is unknown; with no worker it is safe", async (t) => {
  const config = { deadline_ms: 20 * minute };
  const idle = await spawned(t, "do it", config);
  await passed(idle.kit, 20 * minute);
  assert.deepEqual([(await failureOf(idle.kit, idle.task)).retry], ["safe"]);
  const fetched = await spawned(t, "do it", config);
  await fetched.kit.workers.prompt(fetched.handle, { task_id: fetched.task });
  await passed(fetched.kit, 20 * minute);
  const failure = await failureOf(fetched.kit, fetched.task);
  assert.deepEqual([failure.code, failure.retry], ["deadline", "unknown"]);
  const acked = await spawned(t, "do it", config);
  acked.peer.send({ type: "spawn_ack", req_id: acked.spawn.req_id });
  await acked.peer.settled();
  await passed(acked.kit, 20 * minute);
  assert.equal((await failureOf(acked.kit, acked.task)).retry, "unknown");
});
