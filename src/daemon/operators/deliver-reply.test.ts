import assert from "node:assert/strict";
import { test } from "node:test";

import type { Engine } from "../../engine/engine.ts";
import { TuttiError } from "../../protocol/error.ts";
import { connected, joined, type Kit, loopTask, openKit, operatorTask } from "../../../test/support/operator-kit.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { within } from "../../../test/support/wait-until.ts";

const gated = { operators: { gate: "gate" } };
const loops = { coder: async () => "ran" };

const statusOf = async ({ engine }: Kit, task: string): Promise<string> =>
  (await within(() => engine.result(task), "the end of the task")).status;

/** The first delivery takes the given way, and all others go straight to the engine. */
function firstOne(way: (deliver: () => ReturnType<Engine["deliver"]>) => ReturnType<Engine["deliver"]>) {
  let isFirst = true;
  return (engine: Engine): Engine["deliver"] =>
    async (wait, value, by) => {
      const deliver = (): ReturnType<Engine["deliver"]> => engine.deliver(wait, value, by);
      if (!isFirst) return deliver();
      isFirst = false;
      return way(deliver);
    };
}

test("of two replies to one request the first counts, however long its delivery takes, and no other request waits for it", async (t) => {
  const [held, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = firstOne(async (deliver) => {
    held.resolve();
    await free.promise;
    return deliver();
  });
  const kit = await openKit(t, tempFolder(t), { loops, deliver: slow });
  const peer = await connected(kit, (await joined(kit, "gate")).sid);
  const { task } = await kit.engine.start(loopTask("coder", gated));
  const hook = await peer.next("hook_before");
  const other = await kit.engine.start(loopTask("coder", gated));
  const otherHook = await peer.next("hook_before");

  peer.send({ type: "hook_ack", req_id: hook.req_id, ok: true });
  await held.promise;
  peer.send({ type: "hook_ack", req_id: hook.req_id, ok: false, reason: "changed its mind" });
  peer.send({ type: "hook_ack", req_id: otherHook.req_id, ok: true });
  assert.equal(await statusOf(kit, other.task), "completed", "a later reply, to another request");
  free.resolve();
  assert.equal(await statusOf(kit, task), "completed");
  const refused = await peer.next("error");
  assert.deepEqual([refused.code, refused.req_id], ["already_answered", hook.req_id]);
});

test("a reply that came behind one that could not be delivered is not taken in its place: the operator is asked again", async (t) => {
  const [held, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const lost = firstOne(async () => {
    held.resolve();
    await free.promise;
    throw new TuttiError("stopped", "this node joins anew");
  });
  const kit = await openKit(t, tempFolder(t), { loops, deliver: lost });
  const { sid } = await joined(kit, "gate");
  const peer = await connected(kit, sid);
  const { task } = await kit.engine.start(loopTask("coder", gated));
  const { req_id } = await peer.next("hook_before");
  peer.send({ type: "hook_ack", req_id, ok: true });
  await held.promise;
  for (let more = 0; more < 20; more += 1)
    peer.send({ type: "hook_ack", req_id, ok: false, reason: "changed its mind" });
  await peer.settled();
  free.resolve();
  assert.equal(
    (await within(() => peer.closed, "the end of the connection")).code,
    1006,
    "what was not delivered is sent again over another connection",
  );

  const again = await connected(kit, sid);
  const asked = await again.next("hook_before");
  assert.deepEqual([asked.req_id, asked.redelivered], [req_id, true]);
  again.send({ type: "hook_ack", req_id, ok: true });
  assert.equal(await statusOf(kit, task), "completed");
});

test("an error that follows an answer at once fails the attempt, as one that follows later does", async (t) => {
  const kit = await openKit(t, tempFolder(t));
  const peer = await connected(kit, (await joined(kit, "builder")).sid);
  const { task } = await kit.engine.start(operatorTask({ operator: "builder" }));
  const { req_id } = await peer.next("spawn");
  peer.send({ type: "spawn_ack", req_id });
  peer.send({ type: "spawn_ack", req_id, ok: false, error: "the machine is on fire" });
  assert.equal(await statusOf(kit, task), "failed");
});
