import assert from "node:assert/strict";
import { test } from "node:test";
import {
  again,
  answer,
  anything,
  ask,
  killed,
  type Loops,
  never,
  openWaits,
  person,
  seen,
  started,
  task,
  world,
} from "../../test/support/engine-kit.ts";
import { settle } from "../../test/support/settle.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";

test("invariant 4: a cancel ends the whole subtree: detached, late and queued descendants, and aborts their steps", async (t) => {
  const aborted: string[] = [];
  const loops: Loops = {
    root: async (d) => {
      await d.spawn("kids", [task("parent"), task("done"), task("parent", { detached: true })]);
      return d.step(
        "wait",
        again,
        ({ signal, key }) => (signal.addEventListener("abort", () => aborted.push(key)), never),
      );
    },
    parent: async (d) => {
      await d.spawn("kids", [task("leaf"), task("leaf", { detached: true }), task("leaf")]);
      return "left its children";
    },
    leaf: (d) =>
      d.step("wait", again, ({ signal, key }) => (signal.addEventListener("abort", () => aborted.push(key)), never)),
    done: async () => "done",
  };
  let w = world(tempFolder(t), loops);
  const name = await started(w, "root", { budget: { concurrency: 4 } });
  await settle();
  w = await killed(w, t, loops);
  await settle();
  const canceled = await w.engine.cancel(name, "enough");
  assert.equal(canceled.length, 7, "the root and six leaves; the parents and one child were over");
  await w.engine.idle();
  assert.equal(
    aborted.length,
    8,
    "four steps were under way before the restart and four after; three leaves were queued",
  );
  const results = seen(w.folder, "SELECT status, COUNT(*) AS n FROM results GROUP BY status ORDER BY status");
  assert.deepEqual(
    results.map((row) => [row["status"], row["n"]]),
    [
      ["canceled", 7],
      ["completed", 3],
    ],
  );
  assert.deepEqual(await w.engine.cancel(name, "again"), []);
});

test("invariant 4: a child made in the moment of the cancel is canceled too", async (t) => {
  const w = world(tempFolder(t), {
    root: async (d) => {
      await d.sleep("nap", 10);
      return d.join(await d.spawn("kids", [task("leaf")]));
    },
    leaf: (d) => d.step("wait", again, () => never),
  });
  t.after(() => w.stop());
  const name = await started(w, "root");
  await settle();
  w.clock.advance(10);
  await Promise.resolve();
  await Promise.resolve();
  await w.engine.cancel(name, "enough");
  await w.engine.idle();
  const open = seen(w.folder, "SELECT id FROM tasks WHERE id NOT IN (SELECT task FROM results)");
  assert.deepEqual(open, []);
});

test("invariant 5: a failing child neither hides nor stops its siblings", async (t) => {
  const w = world(tempFolder(t), {
    root: async (d) =>
      (await d.join(await d.spawn("kids", [task("bad"), task("good")]))).map((result) => result.status),
    bad: async () => {
      throw new Error("at once");
    },
    good: (d) => d.sleep("nap", 100).then(() => "good"),
  });
  t.after(() => w.stop());
  const name = await started(w, "root");
  await settle();
  w.clock.advance(100);
  assert.deepEqual((await w.engine.result(name)).content, ["failed", "completed"]);
});

test("invariant 5: a parent may complete while a detached child runs; its result is told, also after a restart", async (t) => {
  const loops: Loops = {
    root: async (d) => {
      await d.spawn("kid", [task("slow", { detached: true })]);
      return { left: "it" };
    },
    slow: (d) => d.sleep("nap", 1_000).then(() => "slow"),
  };
  const first = world(tempFolder(t), loops);
  const name = await started(first, "root");
  assert.deepEqual((await first.engine.result(name)).content, { left: "it" });
  const second = await killed(first, t, loops);
  assert.deepEqual((await second.engine.result(name)).content, { left: "it" });
  let idle = false;
  const settled = second.engine.idle().then(() => (idle = true));
  await settle();
  assert.equal(idle, false, "a tree is not settled before its last task");
  second.clock.advance(1_000);
  await settled;
});

test("a result that JSON cannot hold fails the task instead of hanging whoever joins it", async (t) => {
  const w = world(tempFolder(t), {
    root: async (d) => (await d.join(await d.spawn("kid", [task("odd")]))).map((result) => result.status),
    odd: async () => 1n,
  });
  t.after(() => w.stop());
  assert.deepEqual((await w.engine.result(await started(w, "root"))).content, ["failed"]);
});

test("invariant 7: the earliest deadline on the way to the root holds, and passing it ends what is below", async (t) => {
  const w = world(tempFolder(t), {
    root: async (d) =>
      (await d.join(await d.spawn("kids", [task("leaf", { deadline: w.clock.now() + 50_000 })]))).map(
        (result) => result.status,
      ),
    leaf: (d) => d.step("wait", again, () => never),
  });
  t.after(() => w.stop());
  const name = await started(w, "root", { deadline: w.clock.now() + 10_000 });
  await settle();
  w.clock.advance(10_000);
  await w.engine.idle();
  const result = await w.engine.result(name);
  assert.equal(result.status, "failed");
  assert.match(JSON.stringify(result.content), /"code":"deadline"/);
  const ends = seen(w.folder, "SELECT status FROM results ORDER BY status").map((row) => row["status"]);
  assert.deepEqual(ends, ["canceled", "failed"]);
});

test("invariant 7: waiting for a person does not count against a deadline, nor against that of a child made after it", async (t) => {
  const w = world(tempFolder(t), {
    root: async (d) => {
      await d.wait("ask", { ask, schema: anything });
      const [result] = await d.join(await d.spawn("kid", [task("leaf")]));
      return result?.content;
    },
    leaf: (d) => d.sleep("nap", 2_000).then(() => "in time"),
  });
  t.after(() => w.stop());
  const name = await started(w, "root", { deadline: w.clock.now() + 10_000 });
  await settle();
  w.clock.advance(60_000);
  await w.engine.deliver(openWaits(w)[0] ?? "", answer("yes"), person);
  await settle();
  w.clock.advance(2_000);
  assert.equal((await w.engine.result(name)).content, "in time");
});
