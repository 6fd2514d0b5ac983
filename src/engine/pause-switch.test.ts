import assert from "node:assert/strict";
import { test } from "node:test";

import {
  again,
  answer,
  anything,
  ask,
  codeOf,
  events,
  gate,
  killed,
  type Loops,
  never,
  openWaits,
  person,
  started,
  task,
  world,
  worldAt,
} from "../../test/support/engine-kit.ts";
import { settle } from "../../test/support/settle.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { userMessage } from "../protocol/task/message.ts";
import { clockStops } from "./pause-switch.ts";
import { systemClock } from "./clock.ts";

test("in a pause the step under way finishes, none begins, no task starts, and its end lets all go on", async (t) => {
  const ran: string[] = [];
  const slow = gate<string>();
  const w = world(tempFolder(t), {
    working: async (d) => {
      await d.step("slow", again, () => slow.opened.finally(() => ran.push("slow")));
      return d.step("next", again, () => (ran.push("next"), "done"));
    },
    other: (d) => d.step("only", again, () => (ran.push("other"), "other")),
  });
  t.after(() => w.stop());
  const first = await started(w, "working");
  await settle();
  await w.engine.pause();
  assert.equal(w.engine.paused, true);
  const second = await started(w, "other");
  slow.open("slow");
  await settle();
  assert.deepEqual(ran, ["slow"]);
  assert.deepEqual(w.engine.counts(), { pending: 1, running: 1, input_required: 0 });
  const kinds = events(w.store).map((event) => event.type);
  assert.equal(kinds.filter((kind) => kind === "step.finished").length, 1, "its outcome is recorded");
  await w.engine.resume();
  assert.deepEqual(
    [(await w.engine.result(first)).content, (await w.engine.result(second)).content],
    ["done", "other"],
  );
  assert.deepEqual([w.engine.paused, new Set(ran)], [false, new Set(["slow", "next", "other"])]);
});

test("a task that rests in a pause has given its slot up, beside a step of its own that goes on", async (t) => {
  const slow = gate<string>();
  const ran: string[] = [];
  const w = world(
    tempFolder(t),
    {
      two: async (d) => {
        const one = d.step("slow", again, () => slow.opened);
        await d.sleep("nap", 10);
        const two = d.step("late", again, () => (ran.push("late"), "late"));
        return Promise.all([one, two]);
      },
      other: (d) => d.step("only", again, () => (ran.push("other"), "other")),
    },
    { slots: 1 },
  );
  t.after(() => w.stop());
  const first = await started(w, "two");
  await settle();
  await w.engine.pause();
  w.clock.advance(10);
  await settle();
  slow.open("slow");
  await settle();
  assert.deepEqual(ran, []);
  await w.engine.resume();
  const second = await started(w, "other");
  assert.deepEqual((await w.engine.result(first)).content, ["slow", "late"]);
  assert.equal((await w.engine.result(second)).status, "completed");
  assert.deepEqual(new Set(ran), new Set(["late", "other"]));
});

test("answers, messages, cancels and ends still work in a pause", async (t) => {
  const w = world(tempFolder(t), {
    asks: async (d) => [
      await d.wait("which", { ask, schema: anything }),
      (await d.receive("m", { block: true }))?.role,
    ],
    works: (d) => d.step("work", again, () => never),
  });
  t.after(() => w.stop());
  const [asks, works] = [await started(w, "asks"), await started(w, "works")];
  await settle();
  await w.engine.pause();
  const waiting = await started(w, "works");
  const delivery = await w.engine.deliver(openWaits(w)[0] ?? "", answer("red"), person);
  assert.equal(delivery.outcome, "accepted");
  await w.engine.message(asks, userMessage("hello"));
  assert.deepEqual((await w.engine.result(asks)).content, [{ value: answer("red"), by: person }, "user"]);
  assert.deepEqual(await w.engine.cancel(works, "enough"), [works]);
  assert.deepEqual(await w.engine.cancel(waiting, "enough"), [waiting]);
  await w.engine.idle();
  await w.engine.resume();
  await settle();
  const starts = events(w.store).filter((event) => event.type === "task.started").length;
  assert.equal(starts, 2, "what was canceled before its turn never starts");
});

test("invariant 3: a pause outlasts a kill; what was left then goes on when it ends, and not before", async (t) => {
  const ran: string[] = [];
  let open = false;
  const loops: Loops = {
    working: (d) => d.step("work", again, () => (ran.push(d.task), open ? "done" : never)),
  };
  const first = world(tempFolder(t), loops);
  const before = await started(first, "working");
  await settle();
  await first.engine.pause();
  const made = await started(first, "working");
  open = true;
  ran.length = 0;
  const second = await killed(first, t, loops);
  await settle();
  assert.deepEqual([second.engine.paused, ran], [true, []]);
  await second.engine.resume();
  for (const name of [before, made]) assert.equal((await second.engine.result(name)).content, "done");
  const third = await killed(second, t, loops);
  assert.equal(third.engine.paused, false);
});

test("invariant 7: time paused counts neither against a deadline nor against the working time, over restarts too", async (t) => {
  const loops: Loops = {
    root: async (d) => {
      await d.wait("before", { label: "go", schema: anything });
      return d.step("work", again, () => "in time");
    },
  };
  const budget = { time_ms: 10_000 };
  let w = world(tempFolder(t), loops);
  const made = (deadline: number) => started(w, "root", { budget, deadline });
  const names = [await made(w.clock.now() + 10_000)];
  w.clock.advance(4_000);
  await settle();
  await w.engine.pause();
  names.push(await made(w.clock.now() + 1_000));
  w.clock.advance(100_000);
  await settle();
  w = await killed(w, t, loops);
  w.clock.advance(100_000);
  await settle();
  await w.engine.resume();
  w.clock.advance(900);
  await settle();
  w = await killed(w, t, loops);
  await settle();
  assert.deepEqual(w.engine.counts(), { pending: 0, running: 2, input_required: 0 });
  for (const wait of openWaits(w)) await w.engine.deliver(wait, {}, person);
  for (const name of names) assert.equal((await w.engine.result(name)).content, "in time");
  assert.deepEqual(
    events(w.store).filter((event) => event.type === "budget.reached"),
    [],
  );
});

test("a deadline that is not extended further than the pause was long still ends the task", async (t) => {
  const loops: Loops = { root: (d) => d.wait("before", { label: "go", schema: anything }) };
  let w = world(tempFolder(t), loops);
  const name = await started(w, "root", { deadline: w.clock.now() + 10_000 });
  await settle();
  w.clock.advance(4_000);
  await w.engine.pause();
  w.clock.advance(50_000);
  await w.engine.resume();
  w = await killed(w, t, loops);
  await settle();
  w.clock.advance(5_999);
  await settle();
  assert.equal(w.engine.counts().running, 1);
  w.clock.advance(2_000);
  assert.equal(w.engine.counts().running, 0);
  const result = await w.engine.result(name);
  assert.match(JSON.stringify(result.content), /"code":"deadline"/);
});

test("an ask and a pause at the same time stop the clock once", async (t) => {
  const loops: Loops = {
    root: async (d) => {
      await d.wait("which", { ask, schema: anything });
      return d.wait("rest", { label: "go", schema: anything });
    },
  };
  const w = world(tempFolder(t), loops);
  t.after(() => w.stop());
  const name = await started(w, "root", { deadline: w.clock.now() + 10_000 });
  await settle();
  w.clock.advance(1_000);
  await w.engine.pause();
  w.clock.advance(1_000);
  await w.engine.deliver(openWaits(w)[0] ?? "", answer("x"), person);
  w.clock.advance(1_000);
  await w.engine.resume();
  await settle();
  w.clock.advance(9_999);
  await settle();
  assert.equal(w.engine.counts().running, 1);
  w.clock.advance(2_000);
  assert.equal(w.engine.counts().running, 0);
  assert.equal((await w.engine.result(name)).status, "failed");
});

test("pauses before a task was made do not stop its clock; one that was on does from the first", () => {
  const past: [number, number][] = [
    [1, 5],
    [10, 20],
  ];
  assert.deepEqual(clockStops({ since: null, past }, 15), [
    { at: 15, change: 1 },
    { at: 20, change: -1 },
  ]);
  assert.deepEqual(clockStops({ since: 30, past }, 40), [{ at: 40, change: 1 }]);
});

test("a drain lets steps end, begins none, keeps no pause, and leaves the rest to the next start", async (t) => {
  const ran: string[] = [];
  const slow = gate<string>();
  const loops: Loops = {
    working: async (d) => {
      const first = await d.step("slow", again, () => slow.opened);
      return [first, await d.step("next", again, () => (ran.push("next"), "next"))];
    },
    waits: (d) => d.wait("which", { ask, schema: anything }),
  };
  const w = world(tempFolder(t), loops);
  const name = await started(w, "working");
  await started(w, "waits");
  await settle();
  const drained = w.engine.drain(10_000);
  await w.engine.resume();
  await settle();
  slow.open("slow");
  assert.equal(await drained, true);
  assert.equal(await codeOf(w.engine.start(task("working"))), "stopped");
  assert.deepEqual(ran, []);
  w.store.close();
  const next = world(w.folder, loops);
  t.after(() => next.stop());
  assert.equal(await next.engine.recover(), 2);
  assert.deepEqual((await next.engine.result(name)).content, ["slow", "next"]);
  assert.deepEqual([next.engine.paused, ran], [false, ["next"]]);
});

test("a drain waits no longer than it was given, with a step that does not end", async (t) => {
  const w = worldAt(tempFolder(t), { endless: (d) => d.step("work", again, () => never) }, { clock: systemClock });
  await w.engine.start(task("endless"));
  await settle();
  assert.equal(await w.engine.drain(30), false);
  w.store.close();
});
