import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../test/support/properties.ts";

import { fakeClock } from "../engine/fake-clock.ts";
import { TuttiError } from "../protocol/error.ts";
import { openLane, type Permit } from "./lane.ts";

const idle = new AbortController().signal;
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function lane(maxCalls: number, maxWaitMs = 300_000) {
  const clock = fakeClock();
  const opened = openLane({ clock, maxCalls, maxWaitMs, name: "here", random: () => 0 });
  const permits: Permit[] = [];
  const acquire = (again = false): Promise<number> =>
    opened.acquire({ signal: idle, again }).then((permit) => permits.push(permit));
  return { clock, opened, permits, acquire };
}

test("no more calls than allowed are under opened, and the next goes when one has ended", async () => {
  const { permits, acquire } = lane(2);
  for (let count = 0; count < 5; count += 1) void acquire();
  await settled();
  assert.equal(permits.length, 2);
  permits[0]?.failed();
  await settled();
  assert.equal(permits.length, 3);
});

test("one throttled call stops everybody for as long as the provider asked", async () => {
  const { clock, permits, acquire } = lane(8);
  await acquire();
  permits[0]?.throttled(10_000);
  for (let count = 0; count < 3; count += 1) void acquire();
  clock.advance(9_999);
  await settled();
  assert.equal(permits.length, 1);
  clock.advance(1);
  await settled();
  assert.equal(permits.length, 4);
});

test("a burst of throttled calls halves the number once, and good ones win it back one round at a time", async () => {
  const { clock, permits, acquire } = lane(8);
  for (let count = 0; count < 8; count += 1) await acquire();
  for (const permit of permits.splice(0)) permit.throttled(100);
  for (let count = 0; count < 40; count += 1) void acquire();
  clock.advance(100);
  await settled();
  assert.equal(permits.length, 4);
  for (let round = 0; round < 4; round += 1) {
    for (const permit of permits.splice(0)) permit.succeeded();
    await settled();
  }
  assert.ok(permits.length > 4 && permits.length <= 8, `${permits.length} under opened`);
});

test("without a time to wait the pause doubles with every round that is throttled again", async () => {
  const { clock, permits, acquire } = lane(4);
  for (const pause of [500, 1000, 2000]) {
    await acquire();
    permits.pop()?.throttled(undefined);
    void acquire();
    clock.advance(pause - 1);
    await settled();
    assert.equal(permits.length, 0, `${pause}`);
    clock.advance(1);
    await settled();
    permits.pop()?.failed();
  }
});

test("a call that was turned away goes before those who never went", async () => {
  const { opened } = lane(1);
  const order: string[] = [];
  const first = await opened.acquire({ signal: idle, again: false });
  const come = (name: string, again: boolean): Promise<void> =>
    opened.acquire({ signal: idle, again }).then((permit) => {
      order.push(name);
      permit.failed();
    });
  const all = [come("new", false), come("turned away", true)];
  first.failed();
  await Promise.all(all);
  assert.deepEqual(order, ["turned away", "new"]);
});

test("a pause longer than anybody may wait is told to those who wait and to those who come", async () => {
  const { permits, opened, acquire } = lane(1, 60_000);
  await acquire();
  const waiting = assert.rejects(opened.acquire({ signal: idle, again: false }), /pause of 3600 s/);
  permits[0]?.throttled(3_600_000);
  await waiting;
  await assert.rejects(opened.acquire({ signal: idle, again: false }), (thrown: unknown) => {
    assert.ok(thrown instanceof TuttiError);
    assert.deepEqual([thrown.code, thrown.retry], ["busy", "safe"]);
    return true;
  });
});

test("who gives up waiting leaves the queue and takes no place", async () => {
  const { opened, permits, acquire } = lane(1);
  await acquire();
  const stop = new AbortController();
  const given = assert.rejects(opened.acquire({ signal: stop.signal, again: false }), /enough/);
  stop.abort(new Error("enough"));
  await given;
  void acquire();
  permits[0]?.succeeded();
  await settled();
  assert.equal(permits.length, 2);
});

test("whatever the calls come to, the limit holds and everybody gets through", async () => {
  const outcomes = fc.array(fc.constantFrom("succeeded", "failed", "throttled"), { minLength: 1, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(outcomes, fc.integer({ min: 1, max: 5 }), async (ends, maxCalls) => {
      const clock = fakeClock();
      const opened = openLane({ clock, maxCalls, maxWaitMs: 300_000, name: "here", random: () => 0.5 });
      let [running, done] = [0, 0];
      const calls = ends.map(async (end) => {
        const permit = await opened.acquire({ signal: idle, again: false });
        running += 1;
        assert.ok(running <= maxCalls);
        await settled();
        running -= 1;
        if (end === "throttled") permit.throttled(50);
        else permit[end === "succeeded" ? "succeeded" : "failed"]();
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
