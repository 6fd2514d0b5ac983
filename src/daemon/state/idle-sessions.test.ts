import assert from "node:assert/strict";
import { test } from "node:test";

import { acpWorld, processesOf } from "../../../test/support/acp-kit.ts";
import { until } from "../../../test/support/wait-until.ts";
import { openView } from "../../store/sqlite/sqlite-view.ts";
import { endIdleSessions, type IdleSessionsDeps } from "./idle-sessions.ts";
import { readsOf } from "./reader.ts";

const hour = 3_600_000;
const edit = { toolCallId: "c1", title: "Edit a file", kind: "edit", status: "pending" };

test("a session of which nothing is heard is ended and can be resumed; a task without a process is left alone", async (t) => {
  const world = await acpWorld(t, { behaviour: { load: true } });
  const view = openView(world.state);
  t.after(() => view.close());
  const { sessions, observe } = readsOf(view, world.state);
  const stopTask = async (task: string, reason: string): Promise<string> => {
    await world.engine.stopTask(task, reason);
    return task;
  };
  const log = { info: () => undefined, warn: () => assert.fail("nothing fails here") };
  const deps: IdleSessionsDeps = {
    client: { sessions, observe, stopTask },
    idleAfter: async () => hour,
    now: () => Date.now() + 2 * hour,
    log,
  };
  const parked = await world.start([{ say: "You've hit your usage limit, try again in 9 hours" }]);
  await until(async () => (await sessions()).some(({ activity }) => activity === "waiting"));
  const asks = await world.start([{ permit: edit }, { hang: true }]);
  await until(async () => (await sessions()).filter(({ activity }) => activity === "waiting").length === 2);

  assert.deepEqual(await endIdleSessions({ ...deps, idleAfter: async () => undefined }), [], "it is off");
  assert.deepEqual(await endIdleSessions({ ...deps, now: () => Date.now() }), [], "it is too early");
  assert.deepEqual(await endIdleSessions(deps), [asks]);
  const listed = (await sessions()).map(({ task, activity, summary }) => ({ task, activity, summary }));
  assert.equal(listed.find(({ task }) => task === parked)?.activity, "waiting");
  const ended = listed.find(({ task }) => task === asks);
  assert.equal(ended?.activity, "stopped");
  assert.match(ended?.summary ?? "", /nothing was heard of it for 60 min; it had asked: /);
  await until(() => processesOf(world.work).length === 0);
  assert.deepEqual(await endIdleSessions(deps), [], "it is ended once");

  await world.engine.resumeTask(asks, { kind: "person", name: "Ada" });
  assert.equal((await world.engine.result(asks, AbortSignal.timeout(240_000))).content, "went on");
  assert.deepEqual(world.ledger("loaded"), ["s-1"]);
});
