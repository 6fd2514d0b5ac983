import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";

import type { Durable } from "../../ports.ts";
import { openForReading } from "../../store/sqlite/database.ts";
import { connected, joined, loopTask, openKit, operatorTask, restarted } from "../../../test/support/operator-kit.ts";
import { settle } from "../../../test/support/settle.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { until } from "../../../test/support/wait-until.ts";

const minute = 60_000;
const day = 24 * 60 * minute;

test("an operator that gives no sign of life is disconnected, one that answers pings stays", async (t) => {
  const kit = await openKit(t, tempFolder(t), { maxSilenceMs: 75_000 });
  const [deaf, alive] = [await joined(kit), await joined(kit)];
  const [one, two] = [await connected(kit, deaf.sid), await connected(kit, alive.sid)];
  one.socket.pause();
  for (let n = 0; n < 3; n += 1) {
    kit.clock.advance(30_000);
    await two.settled();
  }
  await until(() => kit.hub.info(deaf.sid)?.connected === false);
  assert.equal(kit.hub.info(alive.sid)?.connected, true);
  one.socket.resume();
  await one.closed;
});

test("an operator that does not read is sent a bounded amount, stays connected, and loses nothing", async (t) => {
  const count = 200;
  const question = "q".repeat(64 * 1024);
  const asker = async (durable: Durable): Promise<unknown> => {
    const asks = Array.from({ length: count }, (_, n) => ({ kind: "question" as const, question: `${n} ${question}` }));
    await Promise.all(asks.map((ask, n) => durable.open(`ask.${n}`, { ask, schema: z.unknown() })));
    await durable.sleep("wait", day);
    return null;
  };
  const kit = await openKit(t, tempFolder(t), { loops: { asker } });
  const { sid } = await joined(kit, "senior");
  const peer = await connected(kit, sid);
  peer.socket.pause();
  await kit.engine.start(loopTask("asker", { operators: { senior: "senior" } }));
  await until(() => kit.hub.info(sid)?.pending === count);
  await until(() => kit.buffered() > 256 * 1024);
  await settle();
  assert.ok(kit.buffered() < 4 * 1024 * 1024, "no more than one batch on top of what may pile up");
  peer.socket.resume();
  for (let n = 0; n < count; n += 1) {
    const asked = z.object({ question: z.string() }).parse((await peer.next("ask")).question);
    assert.ok(asked.question.startsWith(`${n} q`));
  }
  assert.equal(peer.frames.length, count);
});

test("an operator that causes errors without reading them is disconnected", async (t) => {
  const kit = await openKit(t, tempFolder(t));
  const { sid } = await joined(kit);
  const peer = await connected(kit, sid);
  peer.socket.pause();
  const frame = JSON.stringify({ type: "nonsense", req_id: "r".repeat(250) });
  for (let n = 0; n < 200_000 && kit.hub.info(sid)?.connected === true; n += 1) {
    peer.send(frame);
    if (n % 500 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await until(() => kit.hub.info(sid)?.connected === false);
  peer.socket.resume();
  await peer.closed;
});

test("an offer that no worker took is sent again with a fresh token when its token has expired", async (t) => {
  const kit = await openKit(t, tempFolder(t));
  const { sid } = await joined(kit, "builder");
  const peer = await connected(kit, sid);
  await kit.engine.start(operatorTask({ operator: "builder" }));
  const first = await peer.next("spawn");
  kit.clock.advance(31 * minute);
  const second = await peer.next("spawn");
  assert.deepEqual([second.req_id, second.redelivered], [first.req_id, true]);
  const [old, young] = [first, second].map(({ worker_handle }) => worker_handle);
  assert.equal((await kit.workers.prompt(old, { task_id: first.task_id })).ok, false);
  assert.equal((await kit.workers.prompt(young, { task_id: first.task_id })).ok, true);
});

test("expired handles are removed from the store", async (t) => {
  const kit = await openKit(t, tempFolder(t));
  const peer = await connected(kit, (await joined(kit, "builder")).sid);
  const { task } = await kit.engine.start(operatorTask({ operator: "builder" }));
  await peer.next("spawn");
  await kit.engine.cancel(task, "no need");
  const rows = (): number => {
    const { database, close } = openForReading(kit.folder);
    const found = database.prepare("SELECT COUNT(*) AS rows FROM handles").get();
    close();
    return Number(found?.["rows"]);
  };
  assert.equal(rows(), 1);
  kit.clock.advance(3 * 60 * minute);
  await until(() => rows() === 0);
});

test("an unused operator session is removed after a day; one with pending requests stays", async (t) => {
  let kit = await openKit(t, tempFolder(t));
  const [idle, busy] = [await joined(kit, "idle"), await joined(kit, "busy")];
  await kit.engine.start(operatorTask({ operator: "busy", deadline_ms: 3 * day }));
  await until(() => kit.hub.info(busy.sid)?.pending === 1);
  kit.clock.advance(day - minute);
  assert.notEqual(kit.hub.info(idle.sid), undefined);
  kit.clock.advance(minute);
  assert.equal(kit.hub.info(idle.sid), undefined);
  assert.equal(kit.hub.authenticates(idle.sid, idle.token), "unknown_sid");
  kit = await restarted(t, kit);
  await settle();
  assert.deepEqual(
    kit.hub.list().map(({ sid, pending }) => ({ sid, pending })),
    [{ sid: busy.sid, pending: 1 }],
  );
  await joined(kit, "idle");
});

test("an operator session that is connected is never idle", async (t) => {
  const kit = await openKit(t, tempFolder(t), { maxIdleMs: minute });
  const [idle, on] = [await joined(kit), await joined(kit)];
  await connected(kit, on.sid);
  kit.clock.advance(minute);
  assert.deepEqual(
    [idle, on].map(({ sid }) => kit.hub.info(sid) !== undefined),
    [false, true],
  );
});

test("the time in which no daemon was running does not make operator sessions idle", async (t) => {
  let kit = await openKit(t, tempFolder(t));
  const { sid } = await joined(kit);
  await kit.stop();
  kit.clock.advance(2 * day);
  kit = await openKit(t, kit.folder, { clock: kit.clock });
  kit.clock.advance(day / 2);
  assert.notEqual(kit.hub.info(sid), undefined);
});
