import assert from "node:assert/strict";
import { test } from "node:test";

import {
  again,
  answer,
  anything,
  ask,
  gate,
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
import { settle, ticks } from "../../test/support/settle.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";

test("invariant 3: killed after any commit, a tree ends as if nothing had happened, no recorded step run twice", async (t) => {
  const ran = new Map<string, number>();
  const loops: Loops = {
    root: async (d) => {
      const ids = await d.spawn("kids", [task("kid", { input: 1 }), task("kid", { input: 2 })]);
      const steps = ["x", "y"].map((key) =>
        d.step(key, again, ({ key: name }) => (ran.set(name, (ran.get(name) ?? 0) + 1), key)),
      );
      const both = await Promise.all(steps);
      const mail = d.receive("mail", { block: false });
      const results = await d.join(ids);
      return [both, (await mail) ?? null, results.map((result) => result.content)];
    },
    kid: async (d) => {
      const said = await d.step("a", again, async ({ key }) => {
        ran.set(key, (ran.get(key) ?? 0) + 1);
        await ticks(2);
        return "a";
      });
      if (d.run === 1 && d.input === 1) return d.handover("to", { agent: "kid", input: [d.input, said] });
      return [d.input, await d.step("b", again, () => ticks(2).then(() => "b"))];
    },
  };
  const wanted = [
    ["x", "y"],
    null,
    [
      [[1, "a"], "b"],
      [2, "b"],
    ],
  ];
  let commits = 0;
  for (let kill = 1; kill <= commits + 1; kill += 1) {
    const first = world(tempFolder(t), loops);
    let count = 0;
    const reached = gate();
    first.store.onCommit(() => {
      count += 1;
      if (count === kill) reached.open();
    });
    const name = (await first.engine.start(task("root"))).task;
    await Promise.race([reached.opened, first.engine.result(name)]);
    ran.clear();
    const recorded = new Set(
      seen(
        first.folder,
        "SELECT runs.task || '/' || log.key AS name FROM log JOIN runs ON runs.id = log.run WHERE log.kind = 0",
      ).map((row) => String(row["name"])),
    );
    const second = await killed(first, t, loops);
    assert.deepEqual((await second.engine.result(name)).content, wanted, `killed after commit ${kill}`);
    await second.engine.idle();
    for (const key of ran.keys()) {
      const [task36 = "", , step = ""] = key.split("/");
      const id = Number.parseInt(task36.slice(task36.lastIndexOf("_") + 1), 36);
      // The second run of the first child has its own `a`; only first runs can have been recorded under these names.
      if (key.includes("/1.1/")) assert.ok(!recorded.has(`${id}/${step}`), `${key} ran again after commit ${kill}`);
    }
    const open = seen(second.folder, "SELECT id FROM tasks WHERE id NOT IN (SELECT task FROM results)");
    assert.deepEqual(open, []);
    commits = Math.max(commits, count);
    await second.stop();
  }
  assert.ok(commits > 2, `${commits} commits were tried`);
});

test("invariant 3: leftovers of interrupted steps are ended before a task of their tree goes on", async (t) => {
  const order: string[] = [];
  const loops: Loops = {
    one: async (d) => {
      order.push(`loop ${String(d.input)}`);
      await d.step("run", again, async (context) => {
        if (context.noted !== undefined) return "second try";
        await context.note({ pid: d.input });
        return never;
      });
      return d.step("wait", again, () => never);
    },
  };
  const first = world(tempFolder(t), loops);
  for (const pid of [7, 8]) await started(first, "one", { input: pid });
  await settle();
  order.length = 0;
  const second = await killed(first, t, loops, {
    cleanUp: async (note) => {
      await ticks(3);
      order.push(`ended ${JSON.stringify(note)}`);
    },
  });
  await settle();
  for (const pid of [7, 8]) {
    const own = order.filter((each) => each.includes(String(pid)));
    assert.deepEqual(own, [`ended {"pid":${pid}}`, `loop ${pid}`]);
  }
  const third = await killed(second, t, loops, {
    cleanUp: async (note) => void order.push(`left ${JSON.stringify(note)}`),
  });
  assert.ok(!order.some((each) => each.startsWith("left")), "a step whose outcome is known left nothing behind");
  await third.stop();
});

test("what a canceled step noted is still ended if the process died before it was", async (t) => {
  const loops: Loops = {
    one: (d) =>
      d.step("run", { repeatable: false, schema: text }, async (context) => {
        await context.note({ pid: 9 });
        return never;
      }),
  };
  const first = world(tempFolder(t), loops);
  const name = await started(first, "one");
  await settle();
  await first.engine.cancel(name, "enough");
  const notes: unknown[] = [];
  await killed(first, t, loops, { cleanUp: async (note) => void notes.push(note) });
  assert.deepEqual(notes, [{ pid: 9 }]);
});

test("a task of a kind nobody here runs is left as it is and told, not failed", async (t) => {
  const first = world(tempFolder(t), { later: (d) => d.step("wait", again, () => never) });
  const name = await started(first, "later");
  const parked: string[] = [];
  const told = { runners: {}, onParked: (id: string, kind: string) => parked.push(`${id} ${kind}`) };
  const second = await killed(first, t, {}, told);
  assert.deepEqual(parked, [`${name} loop`]);
  assert.deepEqual(seen(second.folder, "SELECT * FROM results"), []);
});

test("a tree that is over is not taken into memory again", async (t) => {
  const loops: Loops = { one: async () => "ok" };
  const first = world(tempFolder(t), loops);
  const name = await started(first, "one");
  await first.engine.result(name);
  const second = await killed(first, t, loops);
  await second.engine.idle();
  assert.equal((await second.engine.result(name)).content, "ok");
});

test("concurrency, limits and the count of tasks hold after a restart", async (t) => {
  let [running, most] = [0, 0];
  const loops: Loops = {
    root: async (d) => {
      await d.join(
        await d.spawn(
          "kids",
          Array.from({ length: 8 }, () => task("kid")),
        ),
      );
      return d.spawn("more", [task("kid"), task("kid")]).then(
        () => "made",
        () => "refused",
      );
    },
    kid: async (d) => {
      await d.wait("ask", { label: "begin", schema: anything });
      return d.step("work", again, async () => {
        running += 1;
        most = Math.max(most, running);
        await ticks(2);
        running -= 1;
        return "ok";
      });
    },
  };
  const first = world(tempFolder(t), loops);
  const name = await started(first, "root", { budget: { tasks: 10, concurrency: 2 } });
  await settle();
  const second = await killed(first, t, loops);
  await settle();
  await Promise.all(openWaits(second).map((open) => second.engine.deliver(open, "go", person)));
  await settle();
  assert.equal(openWaits(second).length, 1, "the eleventh task is asked about");
  await second.engine.deliver(openWaits(second)[0] ?? "", { kind: "budget", go_on: false }, person);
  assert.equal((await second.engine.result(name)).content, "refused");
  assert.equal(most, 2);
});

test("a question that was answered while its loop waited for a slot is found answered", async (t) => {
  const loops: Loops = {
    asks: async (d) => {
      const given = await d.wait("ask", { ask, schema: anything });
      return "value" in given ? given.value : "expired";
    },
    busy: (d) => d.step("work", again, () => never),
  };
  const first = world(tempFolder(t), loops, { slots: 2 });
  await started(first, "busy");
  const name = await started(first, "asks");
  await settle();
  const second = await killed(first, t, loops, { slots: 1 });
  await settle();
  assert.deepEqual(await second.engine.deliver(openWaits(second)[0] ?? "", answer("early"), person), {
    outcome: "accepted",
    provisional: true,
  });
  const third = await killed(second, t, loops, { slots: 2 });
  assert.deepEqual((await third.engine.result(name)).content, answer("early"));
});
