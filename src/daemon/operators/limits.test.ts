import assert from "node:assert/strict";
import { test } from "node:test";

import { connected, eventOf, joined, openKit, operatorTask, passed } from "../../../test/support/operator-kit.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";

const minute = 60_000;
const hour = 60 * minute;

test("a recorded result counts, however long the offer stood and whatever the time limit says", async (t) => {
  const kit = await openKit(t, tempFolder(t));
  const { task } = await kit.engine.start(operatorTask({ operator: "builder", ack_ms: 0 }));
  for (let passes = 0; passes < 10; passes += 1) await passed(kit, 31 * minute);
  const peer = await connected(kit, (await joined(kit, "builder")).sid);
  const { worker_handle: handle } = await peer.next("spawn");
  assert.equal((await kit.workers.submit(handle, "done", {})).ok, true);
  await passed(kit, 25 * hour);
  assert.equal((await kit.engine.result(task)).content, "done");
});

test("a result that comes during a pause ends its task", async (t) => {
  const kit = await openKit(t, tempFolder(t));
  const peer = await connected(kit, (await joined(kit, "builder")).sid);
  const { task } = await kit.engine.start(operatorTask({ operator: "builder", ack_ms: 0 }));
  const { worker_handle: handle } = await peer.next("spawn");
  await kit.engine.pause();
  await passed(kit, 31 * minute);
  const fresh = (await peer.next("spawn")).worker_handle;
  assert.notEqual(fresh, handle);
  assert.equal((await kit.workers.submit(fresh, "done", {})).ok, true);
  assert.equal((await kit.engine.result(task, AbortSignal.timeout(240_000))).content, "done");
});

test("a task that a gate lets start during a pause is offered to nobody before the pause ends", async (t) => {
  const kit = await openKit(t, tempFolder(t));
  const peer = await connected(kit, (await joined(kit, "gate")).sid);
  const { task } = await kit.engine.start(operatorTask({ operator: "gate" }, { operators: { gate: "gate" } }));
  const hook = await peer.next("hook_before");
  await kit.engine.pause();
  peer.send({ type: "hook_ack", req_id: hook.req_id, ok: true });
  await peer.settled();
  await passed(kit, minute);
  assert.deepEqual(
    peer.frames.map(({ type }) => type),
    ["hook_before"],
  );
  await kit.engine.resume();
  const spawn = await peer.next("spawn");
  peer.send({ type: "spawn_ack", req_id: spawn.req_id, value: 7 });
  assert.equal((await kit.engine.result(task)).content, 7);
});

test("if the time is used up before a task is offered, a person is asked first (invariant 7)", async (t) => {
  const kit = await openKit(t, tempFolder(t));
  const peer = await connected(kit, (await joined(kit, "gate")).sid);
  const limited = {
    ...operatorTask({ operator: "gate" }, { operators: { gate: "gate" } }),
    budget: { time_ms: minute },
  };
  const { task } = await kit.engine.start(limited);
  const hook = await peer.next("hook_before");
  await passed(kit, 2 * minute);
  peer.send({ type: "hook_ack", req_id: hook.req_id, ok: true });
  const { data } = await eventOf(kit, "ask.raised", task);
  assert.equal(data.ask.kind, "budget");
  assert.deepEqual(
    peer.frames.map(({ type }) => type),
    ["hook_before"],
  );
  const ada = { kind: "person", name: "Ada" } as const;
  await kit.engine.deliver(data.ask.id, { kind: "budget", go_on: true }, ada);
  await peer.next("spawn");
});
