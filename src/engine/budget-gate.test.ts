import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../test/support/properties.ts";
import { z } from "zod";

import {
  again,
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
  world,
  type World,
} from "../../test/support/engine-kit.ts";
import { settle, ticks } from "../../test/support/settle.ts";
import { isOnPostgres } from "../../test/support/stores.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import type { Budget, Usage } from "../protocol/task/budget.ts";
import type { Durable } from "../ports.ts";
import { idInName, taskName } from "../store/names.ts";

const usage = (tokens: number, money: number | null = 0): Usage => ({
  input_tokens: tokens,
  output_tokens: 0,
  money_micro_usd: money,
});
const go = (limits?: Partial<Budget>) => ({ kind: "budget", go_on: true, ...(limits === undefined ? {} : { limits }) });
const stop = { kind: "budget", go_on: false };

/** A model call that holds `most` and uses `used` of it. */
function call(
  d: Durable,
  key: string,
  most: number,
  how: { readonly used?: number; readonly body?: () => Promise<unknown> } = {},
): Promise<number> {
  return d.step(key, { repeatable: true, schema: z.number(), reserve: usage(most), spent: usage }, async () => {
    await how.body?.();
    return how.used ?? most;
  });
}

const askedOf = (w: World): unknown[] =>
  seen(w.folder, "SELECT body FROM waits ORDER BY id").map(
    (row) => z.object({ ask: z.object({ details: z.unknown() }) }).parse(JSON.parse(String(row["body"]))).ask.details,
  );

test("invariant 7: a call past the limit is not sent, a person is asked, and goes on only after a yes", async (t) => {
  let sent = 0;
  const w = world(tempFolder(t), {
    one: async (d) => [await call(d, "a", 60), await call(d, "b", 60, { body: async () => (sent += 1) })],
  });
  t.after(() => w.stop());
  const name = await started(w, "one", { budget: { tokens: 100 } });
  await settle();
  assert.equal(sent, 0);
  assert.deepEqual(askedOf(w), [{ limit: "tokens", allowed: 100, wanted: 120, unpriced: false }]);
  assert.ok(events(w.store).some((event) => event.type === "budget.reached"));
  await w.engine.deliver(openWaits(w)[0] ?? "", go(), person);
  assert.deepEqual((await w.engine.result(name)).content, [60, 60]);
});

test("invariant 8: a budget ask that expires or is refused stops the work, the same live and after a restart", async (t) => {
  for (const how of ["refused", "expired"]) {
    const told: string[] = [];
    const loops: Loops = {
      one: async (d) => {
        told.push(await codeOf(call(d, "a", 200)));
        return d.step("on", again, () => never);
      },
    };
    const first = world(tempFolder(t), loops);
    await started(first, "one", { budget: { tokens: 100 } });
    await settle();
    if (how === "refused") await first.engine.deliver(openWaits(first)[0] ?? "", stop, person);
    else first.clock.advance(24 * 60 * 60 * 1000);
    await settle();
    const second = await killed(first, t, loops);
    await settle();
    assert.deepEqual([told, openWaits(second)], [["over_budget", "over_budget"], []], how);
  }
});

test("a yes that does not raise the limit far enough is asked again, and a yes survives a restart", async (t) => {
  const loops: Loops = { one: async (d) => [await call(d, "a", 500), await call(d, "b", 400)] };
  let w = world(tempFolder(t), loops);
  const name = await started(w, "one", { budget: { tokens: 100 } });
  await settle();
  await w.engine.deliver(openWaits(w)[0] ?? "", go({ tokens: 200 }), person);
  await settle();
  w = await killed(w, t, loops);
  await settle();
  assert.equal(openWaits(w).length, 1);
  await w.engine.deliver(openWaits(w)[0] ?? "", go({ tokens: 900 }), person);
  assert.deepEqual((await w.engine.result(name)).content, [500, 400]);
  assert.equal(askedOf(w).length, 2);
});

test("an unknown price under a money limit is asked about first", async (t) => {
  const w = world(tempFolder(t), {
    one: (d) => d.step("a", { ...again, reserve: usage(1, null) }, () => "sent"),
  });
  t.after(() => w.stop());
  const name = await started(w, "one");
  await settle();
  assert.equal(events(w.store).filter((event) => event.type === "step.finished").length, 0);
  await w.engine.deliver(openWaits(w)[0] ?? "", go(), person);
  assert.equal((await w.engine.result(name)).content, "sent");
});

test("invariant 1: a call found interrupted is presumed sent, each of several at once, and none that came after", async (t) => {
  const hold = gate();
  const loops: Loops = {
    one: async (d) => {
      await call(d, "done", 10);
      await Promise.all([
        d.sleep("nap", 1),
        call(d, "x", 100, { used: 1, body: () => hold.opened }),
        call(d, "y", 200, { used: 2, body: () => hold.opened }),
      ]);
      return call(d, "after", 1_000, { used: 3 });
    },
  };
  const first = world(tempFolder(t), loops);
  const name = await started(first, "one");
  await settle();
  const second = await killed(first, t, loops);
  await settle();
  hold.open();
  second.clock.advance(1);
  await second.engine.result(name);
  const [spent] = seen(second.folder, "SELECT SUM(tokens) AS n FROM log");
  assert.equal(spent?.["n"], 10 + 100 + 200 + 1 + 2 + 3);
});

test("a call whose task waited for a person when the process ended was not under way, and is not presumed sent", async (t) => {
  const loops: Loops = {
    one: async (d) => {
      await d.wait("ask", { ask, schema: anything });
      return call(d, "after", 1_000, { used: 3 });
    },
  };
  const first = world(tempFolder(t), loops);
  const name = await started(first, "one");
  await settle();
  const second = await killed(first, t, loops);
  await settle();
  await second.engine.deliver(openWaits(second)[0] ?? "", { kind: "question", value: "yes" }, person);
  await second.engine.result(name);
  assert.equal(seen(second.folder, "SELECT SUM(tokens) AS n FROM log")[0]?.["n"], 3);
});

test("a call cut off by a cancel stays booked, now and after a restart", async (t) => {
  const loops: Loops = {
    root: async (d) => {
      const [child = ""] = await d.spawn("kid", [
        task("own", { budget: { tokens: 80, money_micro_usd: 0 } }),
        task("drawing"),
      ]);
      await d.sleep("watch", 10);
      await d.cancel("cancel", child);
      return call(d, "mine", 30);
    },
    own: (d) => call(d, "a", 80, { body: () => never }),
    drawing: (d) => call(d, "b", 20),
  };
  const first = world(tempFolder(t), loops);
  await started(first, "root", { budget: { tokens: 100 } });
  await settle();
  first.clock.advance(10);
  await settle();
  assert.deepEqual(askedOf(first), [{ limit: "tokens", allowed: 100, wanted: 130, unpriced: false }]);
  const second = await killed(first, t, loops);
  await settle();
  assert.equal(seen(second.folder, "SELECT SUM(tokens) AS n FROM log")[0]?.["n"], 100);
  assert.equal(openWaits(second).length, 1);
});

test("invariant 7: what is carved out for a child is not its parent's, and what is left of it comes back", async (t) => {
  const loops: Loops = {
    root: async (d) => {
      const carved = { tokens: 70, money_micro_usd: 0 };
      const tooMuch = await codeOf(d.spawn("more", [task("kid", { budget: carved }), task("kid", { budget: carved })]));
      const ids = await d.spawn("kid", [task("kid", { budget: carved })]);
      const [result] = await d.join(ids);
      return [tooMuch, result?.content, await call(d, "rest", 80)];
    },
    kid: (d) => call(d, "a", 70, { used: 20 }),
  };
  const w = world(tempFolder(t), loops);
  t.after(() => w.stop());
  const name = await started(w, "root", { budget: { tokens: 100 } });
  assert.deepEqual((await w.engine.result(name)).content, ["refused", 20, 80]);
  assert.deepEqual(askedOf(w), []);
});

test("invariant 7: a child limited only in tokens leaves its parent's money to its siblings, over a restart too", async (t) => {
  const sent = gate();
  const loops: Loops = {
    root: (d) =>
      d
        .spawn("kids", [task("kid", { budget: { tokens: 10 } }), task("kid", { budget: { tokens: 10 } })])
        .then((ids) => d.join(ids)),
    kid: (d) =>
      d.step("a", { ...again, reserve: usage(5, 20), spent: () => usage(5, 20) }, () => sent.opened.then(() => "sent")),
  };
  const first = world(tempFolder(t), loops);
  const name = await started(first, "root", { budget: { tokens: 100, money_micro_usd: 100 } });
  await settle();
  assert.deepEqual(openWaits(first), []);
  const second = await killed(first, t, loops);
  await settle();
  assert.deepEqual(openWaits(second), [], "twice 20 presumed and twice 20 held are within 100");
  sent.open();
  assert.equal((await second.engine.result(name)).status, "completed");
});

test("a child limited in tokens alone is held to its parent's money", async (t) => {
  const w = world(tempFolder(t), {
    root: (d) => d.spawn("kid", [task("kid", { budget: { tokens: 10 } })]).then((ids) => d.join(ids)),
    kid: (d) => d.step("a", { ...again, reserve: usage(5, 101) }, () => "sent"),
  });
  t.after(() => w.stop());
  await started(w, "root", { budget: { tokens: 100, money_micro_usd: 100 } });
  await settle();
  assert.deepEqual(askedOf(w), [{ limit: "money_micro_usd", allowed: 100, wanted: 101, unpriced: false }]);
});

test("invariant 7: a raise of what was carved out is held above; what is not left above is asked of the root first", async (t) => {
  const loops: Loops = {
    root: async (d) => {
      const kids = await d.spawn("kids", [task("kid", { budget: { tokens: 40 } })]);
      const own = await call(d, "own", 30);
      return [own, ...(await d.join(kids)).map((result) => result.content)];
    },
    kid: async (d) => [await call(d, "a", 40), await call(d, "b", 30), await call(d, "c", 30)],
  };
  let w = world(tempFolder(t), loops);
  const name = await started(w, "root", { budget: { tokens: 100 } });
  await settle();
  const kid = taskName(w.store.salt, (idInName(w.store.salt, name) ?? 0) + 1);
  assert.deepEqual(askedOf(w), [{ limit: "tokens", allowed: 40, wanted: 70, unpriced: false, account: kid }]);
  await w.engine.deliver(openWaits(w)[0] ?? "", go(), person);
  await settle();
  // The root had 30 left, so 40 became 70 and not 80; the next 30 are the root's to give.
  assert.deepEqual(askedOf(w).at(-1), { limit: "tokens", allowed: 100, wanted: 130, unpriced: false });
  w = await killed(w, t, loops);
  await settle();
  assert.equal(openWaits(w).length, 1, "the raise of the child survived the restart");
  await w.engine.deliver(openWaits(w)[0] ?? "", go({ tokens: 130 }), person);
  await settle();
  assert.deepEqual(askedOf(w).at(-1), { limit: "tokens", allowed: 70, wanted: 100, unpriced: false, account: kid });
  w = await killed(w, t, loops);
  await settle();
  await w.engine.deliver(openWaits(w)[0] ?? "", go(), person);
  assert.deepEqual((await w.engine.result(name)).content, [30, [40, 30, 30]]);
  assert.equal(askedOf(w).length, 3);
});

test("invariant 8: a refusal is remembered after a restart: no task of the tree asks again", async (t) => {
  const loops: Loops = {
    root: async (d) => {
      await codeOf(call(d, "a", 200));
      await d.sleep("night", 1_000);
      return codeOf(call(d, "b", 200));
    },
  };
  for (const how of ["refused", "expired"]) {
    const first = world(tempFolder(t), loops);
    const name = await started(first, "root", { budget: { tokens: 100 } });
    await settle();
    if (how === "refused") await first.engine.deliver(openWaits(first)[0] ?? "", stop, person);
    else first.clock.advance(24 * 60 * 60 * 1000);
    await settle();
    const second = await killed(first, t, loops);
    await settle();
    second.clock.advance(1_000);
    await settle();
    assert.deepEqual(openWaits(second), [], how);
    assert.equal((await second.engine.result(name)).content, "over_budget", how);
  }
});

test("an answer about the budget counts also when it comes before the loop is back at its question", async (t) => {
  const loops: Loops = { one: (d) => call(d, "a", 200), busy: (d) => d.step("work", again, () => never) };
  for (const [reply, wanted] of [
    [go(), 200],
    [stop, "over_budget"],
  ] as const) {
    const first = world(tempFolder(t), loops, { slots: 2 });
    const busy = await started(first, "busy");
    const name = await started(first, "one", { budget: { tokens: 100 } });
    await settle();
    const second = await killed(first, t, loops, { slots: 1 });
    await settle();
    assert.equal((await second.engine.deliver(openWaits(second)[0] ?? "", reply, person)).outcome, "accepted");
    await second.engine.cancel(busy, "make room");
    const { content } = await second.engine.result(name);
    assert.equal(typeof content === "object" && content !== null && "code" in content ? content.code : content, wanted);
    assert.deepEqual(openWaits(second), []);
  }
});

test("invariant 7: tasks are counted in the spawn, all or none, however many spawn at once; depth is refused", async (t) => {
  const loops: Loops = {
    root: async (d) => {
      const many = (count: number) => Array.from({ length: count }, () => task("leaf"));
      const both = [d.spawn("a", many(6)), d.spawn("b", many(6))].map((each) =>
        each.then(
          (ids) => ids.length,
          () => 0,
        ),
      );
      return Promise.all(both);
    },
    leaf: async (d) => codeOf(d.spawn("deeper", [task("leaf")])),
  };
  const w = world(tempFolder(t), loops);
  t.after(() => w.stop());
  const name = await started(w, "root", { budget: { tasks: 10, depth: 1 } });
  await settle();
  assert.equal(seen(w.folder, "SELECT COUNT(*) AS n FROM tasks")[0]?.["n"], 7);
  await w.engine.deliver(openWaits(w)[0] ?? "", stop, person);
  assert.deepEqual((await w.engine.result(name)).content, [6, 0]);
  await w.engine.idle();
  assert.equal(seen(w.folder, "SELECT COUNT(*) AS n FROM tasks")[0]?.["n"], 7);
  const root = idInName(w.store.salt, name) ?? 0;
  const ends = seen(w.folder, `SELECT body FROM results WHERE task > ${root}`).map((row) => row["body"]);
  assert.deepEqual(new Set(ends), new Set(['{"content":"refused"}']));
});

test("invariant 7: working time is limited; the time a person is asked and no process runs does not count", async (t) => {
  const loops: Loops = {
    one: async (d) => {
      await d.sleep("work", 600);
      await d.wait("ask", { ask, schema: anything });
      await d.step("a", again, () => "a");
      await d.sleep("more", 600);
      return d.step("b", again, () => "b");
    },
    other: async (d) => {
      for (let turn = 0; turn < 100; turn += 1)
        await d.sleep(`nap${turn}`, 1_000).then(() => d.step(`s${turn}`, again, () => ""));
    },
  };
  let w = world(tempFolder(t), loops);
  const name = await started(w, "one", { budget: { time_ms: 1_000 } });
  await started(w, "other");
  await settle();
  w.clock.advance(600);
  for (let second = 0; second < 20; second += 1) {
    await ticks(4);
    w.clock.advance(1_000);
  }
  w = await killed(w, t, loops);
  w.clock.advance(60_000);
  await settle();
  await w.engine.deliver(openWaits(w)[0] ?? "", { kind: "question", value: "yes" }, person);
  await settle();
  assert.deepEqual(openWaits(w), [], "600 ms of work: the ask lasted 80 s");
  w.clock.advance(600);
  await settle();
  assert.equal(openWaits(w).length, 1, "1,200 ms of work");
  await w.engine.deliver(openWaits(w)[0] ?? "", go(), person);
  assert.equal((await w.engine.result(name)).content, "b");
});

test("invariant 7: a task that waits, for a person about its budget too, gives its slot to another", async (t) => {
  const w = world(
    tempFolder(t),
    { rich: async (d) => call(d, "a", 500), other: async (d) => d.step("a", again, () => "ran") },
    { slots: 1 },
  );
  t.after(() => w.stop());
  const waiting = await started(w, "rich", { budget: { tokens: 100 } });
  await settle();
  assert.equal((await w.engine.result(await started(w, "other"))).content, "ran");
  await w.engine.deliver(openWaits(w)[0] ?? "", go(), person);
  assert.equal((await w.engine.result(waiting)).content, 500);
});

test("a task canceled while another of its tree asks about the budget sends nothing when the answer comes", async (t) => {
  const sent: string[] = [];
  const w = world(tempFolder(t), {
    root: (d) => d.spawn("kids", [task("kid", { input: "a" }), task("kid", { input: "b" })]).then((ids) => d.join(ids)),
    kid: (d) => call(d, "call", 200, { body: async () => sent.push(String(d.input)) }),
  });
  t.after(() => w.stop());
  const name = await started(w, "root", { budget: { tokens: 100 } });
  await settle();
  const second = events(w.store).filter((event) => event.type === "task.created")[2];
  const kid = `${name.slice(0, name.lastIndexOf("_"))}_${(second?.task ?? 0).toString(36)}`;
  assert.equal((await w.engine.cancel(kid, "not needed")).length, 1);
  await w.engine.deliver(openWaits(w)[0] ?? "", go({ tokens: 1_000 }), person);
  await w.engine.result(name);
  assert.deepEqual(sent, ["a"]);
  assert.equal(seen(w.folder, "SELECT SUM(tokens) AS n FROM log")[0]?.["n"], 200);
});

test("invariant 7: whatever a tree of tasks does at once, it never spends past its limit, and asks before it would", async (t) => {
  interface Plan {
    readonly calls: readonly { readonly most: number; readonly used: number }[];
    readonly carve: number | undefined;
    readonly kids: readonly Plan[];
  }
  const shape = z.custom<Plan>();
  const plan: fc.Arbitrary<Plan> = fc.letrec<{ plan: Plan }>((tie) => ({
    plan: fc.record({
      calls: fc.array(
        fc
          .record({ most: fc.integer({ min: 1, max: 60 }), used: fc.nat(60) })
          .map(({ most, used }) => ({ most, used: Math.min(most, used) })),
        { maxLength: 4 },
      ),
      carve: fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
      // Bounded: left alone, the generator makes trees of a million tasks now and then.
      kids: fc.oneof(
        { maxDepth: 4, depthIdentifier: "tree" },
        fc.constant([]),
        fc.array(tie("plan"), { maxLength: 2 }),
      ),
    }),
  })).plan;
  let most = 0;
  const loops: Loops = {
    node: async (d) => {
      const { calls, kids } = shape.parse(d.input);
      const spawn = kids.map(async (kid, index) => {
        const budget = kid.carve === undefined ? {} : { budget: { tokens: kid.carve } };
        const ids = await d.spawn(`kid${index}`, [task("node", { input: kid, ...budget })]).catch(() => []);
        return d.join(ids);
      });
      await Promise.allSettled([
        ...spawn,
        ...calls.map(async ({ most: wanted, used }, index) => {
          await d.sleep(`nap${index}`, index);
          return call(d, `call${index}`, wanted, { used });
        }),
      ]);
    },
  };
  await fc.assert(
    fc.asyncProperty(plan, fc.array(fc.nat(3), { maxLength: 3 }), async (tree, restarts) => {
      let w = world(tempFolder(t), loops);
      const name = await started(w, "node", { input: tree, budget: { tokens: 100, tasks: 1_000, depth: 20 } });
      for (let turn = 0; turn < 30; turn += 1) {
        // A commit to a database takes more turns of the event loop than three.
        await (isOnPostgres() ? settle() : ticks(3));
        for (const open of openWaits(w)) {
          // A carve-out may be raised as often as one likes: the root's limit still holds.
          const about = askedOf(w)[(idInName(w.store.salt, open) ?? 0) - 1];
          const isCarved = z.object({ account: z.string() }).safeParse(about).success;
          await w.engine.deliver(open, isCarved ? go() : stop, person);
        }
        if (restarts.includes(turn)) w = await killed(w, t, loops);
        w.clock.advance(1);
      }
      assert.equal((await w.engine.result(name)).status, "completed");
      await w.engine.idle();
      const spent = Number(seen(w.folder, "SELECT SUM(tokens) AS n FROM log")[0]?.["n"]);
      most = Math.max(most, spent);
      assert.ok(spent <= 100, `${spent} of 100`);
      await w.stop();
    }),
    { numRuns: isOnPostgres() ? 5 : 25 },
  );
  assert.ok(most > 60, `no tree came near its limit: ${most}`);
});
