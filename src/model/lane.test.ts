import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { fakeClock } from "../engine/fake-clock.ts";
import { TuttiError } from "../protocol/error.ts";
import { openLane, type Pass } from "./lane.ts";

const idle = new AbortController().signal;
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function lane(most: number, maxWaitMs = 300_000) {
  const clock = fakeClock();
  const way = openLane({ clock, most, maxWaitMs, name: "here", random: () => 0 });
  const passes: Pass[] = [];
  const enter = (again = false): Promise<number> =>
    way.enter({ signal: idle, again }).then((pass) => passes.push(pass));
  return { clock, way, passes, enter };
}

test("no more calls than allowed are under way, and the next goes when one has ended", async () => {
  const { passes, enter } = lane(2);
  for (let count = 0; count < 5; count += 1) void enter();
  await settled();
  assert.equal(passes.length, 2);
  passes[0]?.failed();
  await settled();
  assert.equal(passes.length, 3);
});

test("one throttled call stops everybody for as long as the provider asked", async () => {
  const { clock, passes, enter } = lane(8);
  await enter();
  passes[0]?.throttled(10_000);
  for (let count = 0; count < 3; count += 1) void enter();
  clock.advance(9_999);
  await settled();
  assert.equal(passes.length, 1);
  clock.advance(1);
  await settled();
  assert.equal(passes.length, 4);
});

test("a burst of throttled calls halves the number once, and good ones win it back one round at a time", async () => {
  const { clock, passes, enter } = lane(8);
  for (let count = 0; count < 8; count += 1) await enter();
  for (const pass of passes.splice(0)) pass.throttled(100);
  for (let count = 0; count < 40; count += 1) void enter();
  clock.advance(100);
  await settled();
  assert.equal(passes.length, 4);
  for (let round = 0; round < 4; round += 1) {
    for (const pass of passes.splice(0)) pass.passed();
    await settled();
  }
  assert.ok(passes.length > 4 && passes.length <= 8, `${passes.length} under way`);
});

test("without a time to wait the pause doubles with every round that is throttled again", async () => {
  const { clock, passes, enter } = lane(4);
  for (const pause of [500, 1000, 2000]) {
    await enter();
    passes.pop()?.throttled(undefined);
    void enter();
    clock.advance(pause - 1);
    await settled();
    assert.equal(passes.length, 0, `${pause}`);
    clock.advance(1);
    await settled();
    passes.pop()?.failed();
  }
});

test("a call that was turned away goes before those who never went", async () => {
  const { way } = lane(1);
  const order: string[] = [];
  const first = await way.enter({ signal: idle, again: false });
  const come = (name: string, again: boolean): Promise<void> =>
    way.enter({ signal: idle, again }).then((pass) => {
      order.push(name);
      pass.failed();
    });
  const all = [come("new", false), come("turned away", true)];
  first.failed();
  await Promise.all(all);
  assert.deepEqual(order, ["turned away", "new"]);
});

test("a pause longer than anybody may wait is told to those who wait and to those who come", async () => {
  const { passes, way, enter } = lane(1, 60_000);
  await enter();
  const waiting = assert.rejects(way.enter({ signal: idle, again: false }), /pause of 3600 s/);
  passes[0]?.throttled(3_600_000);
  await waiting;
  await assert.rejects(way.enter({ signal: idle, again: false }), (thrown: unknown) => {
    assert.ok(thrown instanceof TuttiError);
    assert.deepEqual([thrown.code, thrown.retry], ["busy", "safe"]);
    return true;
  });
});

test("who gives up waiting leaves the queue and takes no place", async () => {
  const { way, passes, enter } = lane(1);
  await enter();
  const stop = new AbortController();
  const given = assert.rejects(way.enter({ signal: stop.signal, again: false }), /enough/);
  stop.abort(new Error("enough"));
  await given;
  void enter();
  passes[0]?.passed();
  await settled();
  assert.equal(passes.length, 2);
});

test("whatever the calls come to, the limit holds and everybody gets through", async () => {
  const outcomes = fc.array(fc.constantFrom("passed", "failed", "throttled"), { minLength: 1, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(outcomes, fc.integer({ min: 1, max: 5 }), async (ends, most) => {
      const clock = fakeClock();
      const way = openLane({ clock, most, maxWaitMs: 300_000, name: "here", random: () => 0.5 });
      let [running, done] = [0, 0];
      const calls = ends.map(async (end) => {
        const pass = await way.enter({ signal: idle, again: false });
        running += 1;
        assert.ok(running <= most);
        await settled();
        running -= 1;
        if (end === "throttled") pass.throttled(50);
        else pass[end === "passed" ? "passed" : "failed"]();
        done += 1;
      });
      for (let round = 0; done < ends.length && round < 1000; round += 1) {
        await settled();
        clock.next();
      }
      await Promise.all(calls);
    }),
    { numRuns: 50 },
  );
});
