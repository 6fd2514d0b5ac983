import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../test/support/properties.ts";
import { z } from "zod";

import {
  anything,
  answer,
  ask,
  events,
  killed,
  type Loops,
  openWaits,
  person,
  seen,
  started,
  text,
  world,
  type World,
} from "../../test/support/engine-kit.ts";
import { leftByKill } from "../../test/support/kill-process.ts";
import { settle, ticks } from "../../test/support/settle.ts";
import { isOnPostgres } from "../../test/support/stores.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";

const day = 24 * 60 * 60 * 1000;

test("invariant 8: the first answer wins, later ones are told so, in the same moment as after a restart", async (t) => {
  const loops: Loops = {
    one: async (d) => {
      const given = await d.wait("ask", { ask, schema: anything });
      return "value" in given ? [given.value, given.by.name] : "expired";
    },
  };
  const first = world(tempFolder(t), loops);
  const name = await started(first, "one");
  await settle();
  const [id = ""] = openWaits(first);
  const both = await Promise.all([
    first.engine.deliver(id, answer("red"), person),
    first.engine.deliver(id, answer("blue"), { kind: "operator", name: "Bo" }),
  ]);
  assert.deepEqual(
    both.map((each) => each.outcome),
    ["accepted", "late"],
  );
  assert.deepEqual((await first.engine.result(name)).content, [answer("red"), "Ada"]);
  const second = await killed(first, t, loops);
  const settled = { kind: "answered", value: answer("red"), by: person };
  for (const late of [both[1], await second.engine.deliver(id, answer("green"), person)]) {
    assert.deepEqual(late.outcome === "late" && late.settled, settled, "it is told what was first");
  }
  assert.equal((await second.engine.deliver("ask_ffff_1", answer("green"), person)).outcome, "unknown");
});

test("invariant 8: a wait has a deadline of 24 hours, kept over a restart; its expiry says what silence means", async (t) => {
  const loops: Loops = {
    question: async (d) => d.wait("ask", { ask, schema: anything }),
    approval: async (d) => d.wait("ask", { ask: { kind: "approval", question: "may I?" }, schema: anything }),
  };
  const first = world(tempFolder(t), loops);
  const names = [await started(first, "question"), await started(first, "approval")];
  await settle();
  first.clock.advance(day - 1);
  const second = await killed(first, t, loops);
  await settle();
  assert.equal(openWaits(second).length, 2);
  const [id = ""] = openWaits(second);
  second.clock.advance(1);
  for (const name of names) assert.deepEqual((await second.engine.result(name)).content, { expired: true });
  const late = await second.engine.deliver(id, answer("late"), person);
  assert.deepEqual(late.outcome === "late" && late.settled, { kind: "expired" });
  const meanings = events(second.store)
    .filter((event) => event.type === "ask.expired")
    .map((event) => z.object({ meaning: z.string() }).parse(JSON.parse(event.body ?? "")).meaning);
  assert.deepEqual(meanings, ["no_answer", "denied"]);
});

test("a wait that expired while no process ran expires at the start, and an answer then is late", async (t) => {
  const loops: Loops = { one: (d) => d.wait("ask", { ask, within: 1_000, schema: anything }) };
  const first = world(tempFolder(t), loops);
  const name = await started(first, "one");
  await settle();
  const [id = ""] = openWaits(first);
  await first.stop();
  first.clock.advance(5_000);
  const second = world(first.folder, loops, { clock: first.clock });
  t.after(() => second.stop());
  await second.engine.recover();
  second.clock.advance(0);
  assert.equal((await second.engine.deliver(id, answer("late"), person)).outcome, "late");
  assert.deepEqual((await second.engine.result(name)).content, { expired: true });
});

test("an answer that does not fit is refused and the question stays open", async (t) => {
  const w = world(tempFolder(t), {
    one: async (d) => {
      const wait = await d.open("tool", { label: "external", schema: z.object({ ok: z.boolean() }) });
      const picked = await d.open("pick", { ask: { ...ask, choices: ["red", "blue"] }, schema: anything });
      await d.sleep("busy", 1_000);
      return [await d.select("s1", [{ wait }]), await d.select("s2", [{ wait: picked }])].map(
        (selected) => selected.kind,
      );
    },
  });
  t.after(() => w.stop());
  const name = await started(w, "one");
  await settle();
  const [tool = "", pick = ""] = openWaits(w);
  assert.equal((await w.engine.deliver(tool, { ok: "yes" }, person)).outcome, "invalid");
  assert.equal((await w.engine.deliver(pick, answer("green"), person)).outcome, "invalid");
  assert.equal((await w.engine.deliver(pick, { kind: "approval", approved: true }, person)).outcome, "invalid");
  assert.equal((await w.engine.deliver(tool, { ok: true }, person)).outcome, "accepted");
  assert.equal((await w.engine.deliver(pick, answer("red"), person)).outcome, "accepted");
  w.clock.advance(1_000);
  assert.deepEqual((await w.engine.result(name)).content, ["wait", "wait"]);
});

test("an accepted answer is on disk when it is accepted", async (t) => {
  const w = world(tempFolder(t), { one: (d) => d.wait("ask", { ask, schema: anything }) });
  t.after(() => w.stop());
  await started(w, "one");
  await settle();
  await w.engine.deliver(openWaits(w)[0] ?? "", answer("yes"), person);
  assert.deepEqual(
    seen(w.folder, "SELECT kind FROM answers").map((row) => row["kind"]),
    ["answered"],
  );
});

test("what a loop withdraws, and what a task leaves open when it ends, is no longer asked", async (t) => {
  const w = world(tempFolder(t), {
    one: async (d) => {
      const wait = await d.open("a", { ask, schema: anything });
      await d.open("b", { ask, schema: anything });
      await d.withdraw("drop", wait);
      await d.sleep("nap", 10);
    },
  });
  t.after(() => w.stop());
  const name = await started(w, "one");
  await settle();
  const [left = ""] = openWaits(w);
  assert.equal(openWaits(w).length, 1);
  w.clock.advance(10);
  await w.engine.result(name);
  assert.deepEqual(openWaits(w), []);
  assert.match(JSON.stringify(await w.engine.deliver(left, answer("x"), person)), /no longer asked/);
});

test("invariant 8: after a restart, an answer that turns out not to fit is asked again and never fails the task", async (t) => {
  const loops: Loops = {
    tool: async (d) => {
      const given = await d.wait("tool", { label: "weather", schema: z.object({ ok: z.boolean() }) });
      return "value" in given ? given.value : "expired";
    },
    asks: async (d) => {
      const schema = z.object({ kind: z.literal("question"), value: z.object({ colour: z.string() }) });
      const given = await d.wait("ask", { ask: { ...ask, answer_schema: { type: "object" } }, schema });
      return "value" in given ? given.value.value : "expired";
    },
  };
  const cases = [
    { agent: "tool", unfit: { ok: "yes" }, fit: { ok: true }, wanted: { ok: true }, type: "wait.reopened" },
    {
      agent: "asks",
      unfit: { kind: "question", value: { colour: 1 } },
      fit: { kind: "question", value: { colour: "red" } },
      wanted: { colour: "red" },
      type: "ask.reopened",
    },
  ];
  for (const { agent, unfit, fit, wanted, type } of cases) {
    const first = world(tempFolder(t), loops);
    const name = await started(first, agent);
    await settle();
    const [id = ""] = openWaits(first);
    const folder = leftByKill(t, first);
    await first.stop();
    const second = world(folder, loops, { clock: first.clock });
    t.after(() => second.stop());
    // Delivered before the loop has had a turn: nobody can tell yet whether it fits.
    const recovering = second.engine.recover();
    const early = second.engine.deliver(id, unfit, person);
    const late = second.engine.deliver(id, fit, person);
    await recovering;
    assert.deepEqual(await early, { outcome: "accepted", provisional: true });
    assert.equal((await late).outcome, "late", "the first answer holds until it is found not to fit");
    await settle();
    assert.deepEqual(openWaits(second), [id]);
    assert.ok(events(second.store).some((event) => event.type === type));
    const third = await killed(second, t, loops);
    await settle();
    assert.equal((await third.engine.deliver(id, unfit, person)).outcome, "invalid");
    assert.deepEqual(await third.engine.deliver(id, fit, person), { outcome: "accepted" });
    assert.deepEqual((await third.engine.result(name)).content, wanted);
  }
});

test("an early answer that fits is kept over another restart, and heard", async (t) => {
  const loops: Loops = {
    tool: async (d) => {
      const given = await d.wait("tool", { label: "weather", schema: z.object({ ok: z.boolean() }) });
      return "value" in given ? given.value : "expired";
    },
  };
  const first = world(tempFolder(t), loops);
  const name = await started(first, "tool");
  await settle();
  const [id = ""] = openWaits(first);
  const folder = leftByKill(t, first);
  await first.stop();
  const second = world(folder, loops, { clock: first.clock });
  const recovering = second.engine.recover();
  await second.engine.deliver(id, { ok: true }, person);
  await recovering;
  const third = await killed(second, t, loops);
  assert.deepEqual((await third.engine.result(name)).content, { ok: true });
});

type Move = { readonly kind: "answer" | "expire" | "restart" | "twice"; readonly which: number };

test("invariant 8: every wait is settled once, by whoever was first, under any mix of answers, expiries and restarts", async (t) => {
  const within = [500, 1_000, 1_500, 2_000];
  const loops: Loops = {
    one: async (d) => {
      const waits = await Promise.all(
        within.map((ms, index) => d.open(`w${index}`, { label: `w${index}`, within: ms, schema: text })),
      );
      const settled = waits.map(async (wait, index) => {
        const selected = await d.select(`s${index}`, [{ wait }]);
        return selected.kind === "wait" && "value" in selected.value ? selected.value.value : "expired";
      });
      return Promise.all(settled);
    },
  };
  const move: fc.Arbitrary<Move> = fc.record({
    kind: fc.constantFrom("answer", "answer", "twice", "expire", "restart"),
    which: fc.nat(3),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(move, { maxLength: 10 }), async (moves) => {
      let w: World = world(tempFolder(t), loops);
      const name = await started(w, "one");
      // A commit to a database takes more turns of the event loop.
      await (isOnPostgres() ? settle() : ticks(6));
      const begin = w.clock.now();
      const ids = openWaits(w);
      const model: (string | undefined)[] = within.map(() => undefined);
      const isOpen = (index: number): boolean => model[index] === undefined;
      const lapse = (): void => {
        within.forEach((ms, index) => {
          if (isOpen(index) && w.clock.now() - begin >= ms) model[index] = "expired";
        });
      };
      for (const [turn, { kind, which }] of moves.entries()) {
        if (kind === "restart") {
          w = await killed(w, t, loops);
          await ticks(turn % 2 === 0 ? 0 : 6);
        } else if (kind === "expire") {
          w.clock.advance(500);
          lapse();
        } else {
          const values = kind === "twice" ? [`a${turn}`, `b${turn}`] : [`a${turn}`];
          const outcomes = await Promise.all(values.map((value) => w.engine.deliver(ids[which] ?? "", value, person)));
          const wanted = values.map((_, index) => (isOpen(which) && index === 0 ? "accepted" : "late"));
          assert.deepEqual(
            outcomes.map((each) => each.outcome),
            wanted,
          );
          model[which] ??= values[0];
        }
      }
      await (isOnPostgres() ? settle() : ticks(4));
      w.clock.advance(5_000);
      lapse();
      assert.deepEqual((await w.engine.result(name)).content, model);
      await w.stop();
    }),
    { numRuns: isOnPostgres() ? 4 : 25 },
  );
});
