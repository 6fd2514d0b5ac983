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
  seen,
  started,
  task,
  terminalTypes,
  text,
  world,
} from "../../test/support/engine-kit.ts";
import { settle, ticks } from "../../test/support/settle.ts";
import { isOnPostgres } from "../../test/support/stores.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { until } from "../../test/support/wait-until.ts";
import { nextStatus } from "../core/task-state.ts";
import { messageText, userMessage } from "../protocol/task/message.ts";
import type { TaskStatus } from "../protocol/task/task-status.ts";
import type { Store } from "../store/store.ts";

const lifeTypes = new Set([
  ...terminalTypes,
  "task.started",
  "task.input_required",
  "task.resumed",
  "task.handed_over",
  "run.started",
]);

/** Follows a task's events through the state machine; every one must be allowed where it stands. */
function statusesIn(store: Store): Map<number, TaskStatus> {
  const statuses = new Map<number, TaskStatus>();
  for (const event of events(store)) {
    if (event.type === "task.created") statuses.set(event.task, "pending");
    if (!lifeTypes.has(event.type)) continue;
    const next = nextStatus(statuses.get(event.task) ?? "pending", event.type as "task.started");
    assert.ok(next.ok, `task ${event.task}: ${next.ok ? "" : next.reason}`);
    statuses.set(event.task, next.status);
  }
  return statuses;
}

test("invariant 2: a task's events follow its state machine, whatever it waited for and over restarts", async (t) => {
  const loops: Loops = {
    asking: async (d) => {
      await Promise.all([d.wait("a", { ask, schema: anything }), d.wait("b", { ask, schema: anything })]);
      const [child] = await d.spawn("kid", [task("impatient")]);
      await d.join(child === undefined ? [] : [child]);
      return d.handover("to", { agent: "next", input: null });
    },
    impatient: (d) =>
      Promise.race([d.wait("never", { ask, schema: anything }), d.sleep("nap", 1_000)]).then(() => "done"),
    next: (d) => d.sleep("nap", 1_000),
    pending: (d) => d.sleep("nap", 1_000),
  };
  let w = world(tempFolder(t), loops, { slots: 1 });
  const name = await started(w, "asking");
  await started(w, "pending");
  await settle();
  for (const _ of ["a", "b"]) {
    w = await killed(w, t, loops, { slots: 1 });
    const [open = ""] = openWaits(w);
    await w.engine.deliver(open, answer("yes"), person);
    await settle();
    statusesIn(w.store);
  }
  for (let turn = 0; turn < 4; turn += 1) {
    w = await killed(w, t, loops, { slots: 1 });
    await settle();
    w.clock.advance(1_000);
    await settle();
  }
  assert.equal((await w.engine.result(name)).status, "completed");
  assert.deepEqual([...statusesIn(w.store).values()], ["completed", "completed", "completed"]);
});

test("a task that never ran before a restart is still seen to start", async (t) => {
  const loops: Loops = { long: (d) => d.step("work", again, () => never), short: async () => "ok" };
  const first = world(tempFolder(t), loops, { slots: 1 });
  await started(first, "long");
  const name = await started(first, "short");
  await settle();
  const second = await killed(first, t, loops, { slots: 2 });
  await second.engine.result(name);
  const id = events(second.store).find((event) => event.type === "task.completed")?.task;
  const types = events(second.store)
    .filter((event) => event.task === id)
    .map((event) => event.type);
  assert.deepEqual(types, ["task.created", "task.started", "task.completed"]);
});

test("a key finds the unfinished task instead of making another, at the same time and after a restart", async (t) => {
  const hold = gate();
  const loops: Loops = { one: (d) => d.step("wait", again, () => hold.opened.then(() => "ok")) };
  const first = world(tempFolder(t), loops);
  const both = await Promise.all([
    first.engine.start(task("one"), { key: "k" }),
    first.engine.start(task("one"), { key: "k" }),
  ]);
  assert.deepEqual(
    both.map((each) => each.existed),
    [false, true],
  );
  assert.equal(both[0].task, both[1].task);
  const second = await killed(first, t, loops);
  assert.deepEqual(await second.engine.start(task("one"), { key: "k" }), { task: both[0].task, existed: true });
  hold.open();
  await second.engine.result(both[0].task);
  const next = await second.engine.start(task("one"), { key: "k" });
  assert.equal(next.existed, false);
  assert.notEqual(next.task, both[0].task);
  await second.engine.result(next.task);
});

test("sent again after a restart, an invocation finds the task that ended while it was being taken over", async (t) => {
  const hold = gate();
  const loops: Loops = { one: (d) => d.step("wait", again, () => hold.opened.then(() => "ok")) };
  const first = world(tempFolder(t), loops);
  const { task: name } = await first.engine.start(task("one"), { key: "k" });
  const { task: other } = await first.engine.start(task("one"), { key: "l" });
  const second = await killed(first, t, loops);
  hold.open();
  await second.engine.idle();
  assert.deepEqual(await second.engine.start(task("one"), { key: "k" }), { task: name, existed: true });
  const next = await second.engine.start(task("one"), { key: "k" });
  assert.deepEqual([next.existed, next.task === name], [false, false], "after that it is new work");
  second.clock.advance(61_000);
  const late = await second.engine.start(task("one"), { key: "l" });
  assert.deepEqual([late.existed, late.task === other], [false, false], "and so it is after a minute");
  await second.engine.idle();
});

test("an unknown runner is refused before anything is recorded, naming the ones there are", async (t) => {
  const w = world(tempFolder(t), {});
  t.after(() => w.stop());
  const started = w.engine.start({ ...task("one"), runner: { kind: "toString", config: {} } });
  await assert.rejects(started, { code: "not_found", message: /no runner of kind toString; there are: loop/ });
  assert.deepEqual(
    seen(w.folder, "SELECT COUNT(*) AS n FROM tasks"),
    [{ n: 0 }].map((row) => Object.assign(Object.create(null), row)),
  );
});

test("a retry gives up the running attempt: children end, waits close, and what its loop still does is ignored", async (t) => {
  const runs: string[] = [];
  const loops: Loops = {
    root: async (d) => {
      runs.push(`${d.attempt}.${d.run} ${d.agent}`);
      if (d.attempt === 1 && d.run === 1) return d.handover("to", { agent: "second", input: null });
      return d.step("same key", again, () => `attempt ${d.attempt}`);
    },
    second: async (d) => {
      runs.push(`${d.attempt}.${d.run} ${d.agent}`);
      await d.spawn("kid", [task("leaf")]);
      return d.wait("ask", { ask, schema: anything }).catch(() => "swallowed");
    },
    leaf: (d) => d.step("wait", again, () => never),
  };
  const w = world(tempFolder(t), loops);
  t.after(() => w.stop());
  const name = await started(w, "root");
  await settle();
  await w.engine.retry(name);
  assert.deepEqual(await w.engine.result(name), { content: "attempt 2", task_id: name, status: "completed" });
  await w.engine.idle();
  assert.deepEqual(runs, ["1.1 root", "1.2 second", "2.1 root"]);
  assert.deepEqual(openWaits(w), []);
  statusesIn(w.store);
  assert.equal(await codeOf(w.engine.retry(name)), "conflict");
});

test("mail that came in the moment of a retry is not lost to the next attempt", async (t) => {
  const w = world(tempFolder(t), {
    receiver: async (d) => [
      d.attempt,
      messageText((await d.receive("mail", { block: true })) ?? userMessage("nothing")),
    ],
    selector: async (d) => {
      const selected = await d.select("any", [{ message: true }]);
      return [d.attempt, selected.kind === "message" ? messageText(selected.value) : selected.kind];
    },
  });
  t.after(() => w.stop());
  for (const agent of ["receiver", "selector"]) {
    const name = await started(w, agent);
    await settle();
    // The message wakes the loop; before the loop has its turn, the attempt is given up.
    const sent = w.engine.message(name, userMessage("hello"));
    const retried = w.store.committed().then(() => w.engine.retry(name));
    await Promise.all([sent, retried]);
    assert.deepEqual((await w.engine.result(name)).content, [2, "hello"], agent);
  }
});

test("a retry of a task that still waits for its slot, and one after a restart, run the next attempt once", async (t) => {
  const runs: string[] = [];
  const loops: Loops = {
    busy: (d) => d.step("wait", again, () => never),
    queued: async (d) => void runs.push(`queued ${d.attempt}`),
    asked: async (d) => {
      runs.push(`asked ${d.attempt}`);
      return d.attempt === 1 ? d.wait("a", { ask, schema: anything }) : "ok";
    },
  };
  const first = world(tempFolder(t), loops, { slots: 2 });
  const asked = await started(first, "asked");
  await settle();
  const busy = await started(first, "busy");
  await started(first, "busy");
  const queued = await started(first, "queued");
  await settle();
  await first.engine.retry(queued);
  await first.engine.cancel(busy, "make room");
  await first.engine.result(queued);
  const second = await killed(first, t, loops, { slots: 3 });
  await settle();
  await second.engine.retry(asked);
  assert.equal((await second.engine.result(asked)).content, "ok");
  assert.deepEqual(runs, ["asked 1", "queued 2", "asked 1", "asked 2"]);
});

test("invariant 9: a reader that comes back with the last event it saw misses nothing and sees nothing twice", async (t) => {
  if (isOnPostgres()) return t.skip("the one sequence of a shared store is read from its view");
  const loops: Loops = {
    root: async (d) => {
      for (let turn = 0; turn < 5; turn += 1) {
        await d.step(`s${turn}`, again, () => "x");
        await d.join(await d.spawn(`k${turn}`, [task("leaf"), task("leaf")]));
      }
    },
    leaf: (d) => d.step("s", { repeatable: false, schema: text }, () => "y"),
  };
  let w = world(tempFolder(t), loops);
  const read: number[] = [];
  const follow = (store: Store): void => {
    for (
      let page = store.eventsAfter(read.at(-1) ?? 0, 3);
      page.length > 0;
      page = store.eventsAfter(read.at(-1) ?? 0, 3)
    ) {
      read.push(...page.map((event) => event.seq));
    }
  };
  w.store.onCommit(() => follow(w.store));
  const names = await Promise.all([started(w, "root"), started(w, "root")]);
  await ticks(3);
  w = await killed(w, t, loops);
  w.store.onCommit(() => follow(w.store));
  for (const name of names) await w.engine.result(name);
  await w.engine.idle();
  await settle();
  const all = events(w.store).map((event) => event.seq);
  assert.deepEqual(
    read.filter((seq) => seq <= (all.at(-1) ?? 0)),
    all,
  );
  assert.equal(new Set(all).size, all.length);
});

test("text on its way is shown and not kept", async (t) => {
  const shown: string[] = [];
  const w = world(
    tempFolder(t),
    {
      one: (d) => d.step("talk", again, (context) => (context.live("text", "unique words"), "said")),
    },
    { onLive: (delta) => shown.push(`${delta.key} ${delta.channel} ${delta.text}`) },
  );
  t.after(() => w.stop());
  await w.engine.result(await started(w, "one"));
  assert.deepEqual(shown, ["talk text unique words"]);
  assert.ok(events(w.store).every((event) => event.body?.includes("unique words") !== true));
});

test("a stop ends every loop without an end: what waits is told, and the next start finishes all of it", async (t) => {
  const folder = tempFolder(t);
  const loops: Loops = {
    root: async (d) =>
      (await d.join(await d.spawn("kids", [task("leaf"), task("leaf")]))).map((result) => result.content),
    leaf: (d) => d.sleep("nap", 1_000).then(() => "slept"),
  };
  const first = world(folder, loops);
  const name = await started(first, "root");
  await settle();
  const waiting = codeOf(first.engine.result(name));
  const idle = codeOf(first.engine.idle());
  await first.stop();
  assert.deepEqual([await waiting, await idle], ["stopped", "stopped"]);
  assert.equal(await codeOf(first.engine.start(task("root"))), "stopped");
  const second = world(folder, loops, { clock: first.clock });
  t.after(() => second.stop());
  assert.equal(await second.engine.recover(), 3);
  await settle();
  second.clock.advance(1_000);
  assert.deepEqual((await second.engine.result(name)).content, ["slept", "slept"]);
});

test("a message to a task that is over, and a question about one that never was, are told apart", async (t) => {
  const w = world(tempFolder(t), { one: async () => "ok" });
  t.after(() => w.stop());
  const name = await started(w, "one");
  await w.engine.result(name);
  assert.equal(await codeOf(w.engine.message(name, userMessage("hi"))), "conflict");
  for (const call of [
    w.engine.result("tsk_none_1"),
    w.engine.cancel("tsk_none_1", ""),
    w.engine.message("tsk_none_1", userMessage("")),
  ]) {
    assert.equal(await codeOf(call), "not_found");
  }
});

test("a result is no longer waited for when the caller's signal is aborted", async (t) => {
  const w = world(tempFolder(t), { one: (d) => d.sleep("nap", 1_000) });
  t.after(() => w.stop());
  const controller = new AbortController();
  const waiting = w.engine.result(await started(w, "one"), controller.signal);
  controller.abort(new Error("gone"));
  await assert.rejects(waiting, /gone/);
});

test("ten thousand children that sleep at once on two slots all wake and are joined", async (t) => {
  const w = world(
    tempFolder(t),
    {
      root: async (d) =>
        (
          await d.join(
            await d.spawn(
              "kids",
              Array.from({ length: 10_000 }, () => task("leaf")),
            ),
          )
        ).length,
      leaf: (d) => d.sleep("nap", 1_000),
    },
    { slots: 2 },
  );
  t.after(() => w.stop());
  const name = await started(w, "root", { budget: { tasks: 20_000, concurrency: 2 } });
  const begun = "SELECT COUNT(*) AS n FROM log WHERE type = 'task.started'";
  await until(() => seen(w.folder, begun)[0]?.["n"] === 10_001, "all children sleep");
  w.clock.advance(1_000);
  assert.equal((await w.engine.result(name)).content, 10_000);
});

test("a task takes a bounded number of messages from outside, also over a restart; it goes on without more", async (t) => {
  const loops: Loops = { one: (d) => d.sleep("nap", 1_000) };
  let w = world(tempFolder(t), loops);
  const name = await started(w, "one");
  const large = {
    name: null,
    role: "user" as const,
    parts: [{ part_type: "text" as const, data: "x".repeat(8_000_000) }],
  };
  for (let count = 0; count < 8; count += 1) await w.engine.message(name, large);
  w = await killed(w, t, loops);
  await assert.rejects(w.engine.message(name, large), {
    code: "too_large",
    message: /takes no more; start a new task/,
  });
  w.clock.advance(1_000);
  assert.equal((await w.engine.result(name)).status, "completed");
});

test("a task that has just ended is over for whoever writes to it, also before its end is on disk", async (t) => {
  const w = world(tempFolder(t), { quick: async () => "done" });
  const name = await started(w, "quick");
  const isGone = (): boolean => Object.values(w.engine.counts()).every((count) => count === 0);
  for (let turn = 0; turn < 1_000 && !isGone(); turn += 1) await Promise.resolve();
  assert.ok(isGone());
  assert.deepEqual(seen(w.folder, "SELECT * FROM results"), [], "its end is not on disk yet");
  assert.equal(await codeOf(w.engine.message(name, userMessage("hello"))), "conflict");
  assert.equal(await codeOf(w.engine.retry(`${name}x`)), "not_found");
  await w.stop();
});
