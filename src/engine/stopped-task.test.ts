import assert from "node:assert/strict";
import { test } from "node:test";

import {
  again,
  anything,
  codeOf,
  events,
  killed,
  type Loops,
  never,
  openWaits,
  person,
  seen,
  started,
  task,
  text,
  world,
} from "../../test/support/engine-kit.ts";
import { settle } from "../../test/support/settle.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { messageText, userMessage } from "../protocol/task/message.ts";
import { askName, idInName } from "../store/names.ts";

const day = 24 * 60 * 60 * 1000;

/** Says something in every attempt, then works for ever until it was stopped twice. */
const loops: Loops = {
  root: async (d) => {
    d.say("hello", userMessage(`attempt ${d.attempt}`));
    await d.step("work", again, () => "done");
    if (d.attempt < 3) {
      await d.spawn("kid", [task("kid")]);
      await d.step("long", { repeatable: false, schema: text }, () => never);
    }
    return { resumed: d.resumed, said: (await d.messages()).map((message) => messageText(message)) };
  },
  kid: (d) => d.wait("for ever", { label: "kid", schema: anything }),
};

const typesOf = (w: { store: Parameters<typeof events>[0] }): string[] => events(w.store).map(({ type }) => type);

test("a stopped task ends its attempt and its children, asks to be resumed, and goes on with what was said", async (t) => {
  const w = world(tempFolder(t), loops);
  t.after(() => w.stop());
  const name = await started(w, "root");
  for (const attempt of [1, 2]) {
    await settle();
    await w.engine.stopTask(name, "Ada wanted to look");
    await settle();
    assert.deepEqual(w.engine.counts(), { pending: 0, running: 0, input_required: 1 }, `attempt ${attempt}`);
    assert.equal(openWaits(w).length, 1);
    assert.equal(await codeOf(w.engine.stopTask(name, "again")), "conflict");
    await w.engine.resumeTask(name, person);
  }
  const { content } = await w.engine.result(name);
  assert.deepEqual(content, { resumed: true, said: ["attempt 1", "attempt 2", "attempt 3"] });
  assert.equal(await codeOf(w.engine.resumeTask(name, person)), "conflict");
  const ended = typesOf(w).filter((type) => /^(attempt\.|run\.|task\.(canceled|completed))/.test(type));
  const round = ["attempt.ended", "task.canceled", "run.started"];
  assert.deepEqual(ended, [...round, ...round, "task.completed"]);
});

test("invariant 3: a stopped task stays stopped over kills, and one that was resumed goes on", async (t) => {
  const first = world(tempFolder(t), loops);
  const name = await started(first, "root");
  await settle();
  await first.engine.stopTask(name, "Ada wanted to look");
  const second = await killed(first, t, loops);
  await settle();
  assert.equal(typesOf(second).filter((type) => type === "run.started").length, 0);
  await second.engine.resumeTask(name, person);
  await settle();
  const third = await killed(second, t, loops);
  t.after(() => third.stop());
  // The long step was cut off by the kill, so nobody knows what became of it.
  const { status, content } = await third.engine.result(name);
  assert.deepEqual([status, /outcome_unknown/.test(JSON.stringify(content))], ["failed", true]);
  assert.equal(typesOf(third).filter((type) => type === "run.started").length, 1);
});

test("a no cancels a stopped task, and so do thirty days without an answer; a retry begins anew", async (t) => {
  const w = world(tempFolder(t), loops);
  t.after(() => w.stop());
  const [refused, forgotten, retried] = [await started(w, "root"), await started(w, "root"), await started(w, "root")];
  await settle();
  await w.engine.stopTask(refused, "no longer wanted");
  const own = `settled = 0 AND task = ${idInName(w.store.salt, refused) ?? 0}`;
  const stopped = Number(seen(w.folder, `SELECT MAX(id) AS id FROM waits WHERE ${own}`)[0]?.["id"]);
  await w.engine.deliver(askName(w.store.salt, stopped), { kind: "approval", approved: false }, person);
  assert.equal((await w.engine.result(refused)).status, "canceled");
  await w.engine.stopTask(retried, "wrong way");
  await w.engine.retry(retried);
  await settle();
  assert.deepEqual(w.engine.counts(), { pending: 0, running: 2, input_required: 0 });
  await w.engine.stopTask(forgotten, "later");
  await settle();
  w.clock.advance(29 * day);
  assert.equal(w.engine.counts().input_required, 1);
  w.clock.advance(2 * day);
  assert.equal((await w.engine.result(forgotten)).status, "canceled");
});

test("a task that has not begun can be stopped and resumed", async (t) => {
  const w = world(tempFolder(t), { ...loops, short: async (d) => [d.attempt, d.resumed] }, { slots: 1 });
  t.after(() => w.stop());
  const busy = await started(w, "root");
  await settle();
  const name = await started(w, "short");
  await w.engine.stopTask(name, "not yet");
  await w.engine.cancel(busy, "make room");
  await settle();
  assert.deepEqual(w.engine.counts(), { pending: 0, running: 0, input_required: 1 });
  await w.engine.resumeTask(name, person);
  assert.deepEqual((await w.engine.result(name)).content, [2, true]);
});
