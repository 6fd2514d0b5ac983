import assert from "node:assert/strict";
import { test } from "node:test";

import { FailedAttempts } from "./failed-attempts.ts";

test("each failure of an address is told later than the one before, up to two seconds, and another address is not", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"] });
  const failed = new FailedAttempts();
  const took: number[] = [];
  for (let count = 0; count < 10; count += 1) {
    let told = false;
    void failed.wait("a").then(() => (told = true));
    let ms = 0;
    for (; ms < 5_000 && !told; ms += 25) {
      t.mock.timers.tick(25);
      await Promise.resolve();
      await Promise.resolve();
    }
    took.push(ms);
  }
  assert.deepEqual(took, [25, 50, 100, 200, 400, 800, 1_600, 2_000, 2_000, 2_000]);
  let other = false;
  void failed.wait("b").then(() => (other = true));
  t.mock.timers.tick(25);
  await Promise.resolve();
  assert.ok(other);
});

test("after a minute without a failure an address begins anew", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"] });
  const failed = new FailedAttempts();
  for (let count = 0; count < 6; count += 1) {
    void failed.wait("a");
    t.mock.timers.tick(2_000);
  }
  t.mock.timers.tick(60_001);
  let told = false;
  void failed.wait("a").then(() => (told = true));
  t.mock.timers.tick(25);
  await Promise.resolve();
  assert.ok(told);
});

test("only so many wait, of one address and of all; past that the answer comes at once", async () => {
  const failed = new FailedAttempts();
  const outcomes: boolean[] = [];
  const all = Array.from({ length: 12 }, () => failed.wait("a").then((told) => outcomes.push(told)));
  await Promise.resolve();
  assert.deepEqual(outcomes, [false, false, false, false], "eight of one address wait");
  const others = Array.from({ length: 100 }, (_, at) => failed.wait(`b${at}`).then((told) => outcomes.push(told)));
  await Promise.resolve();
  assert.equal(outcomes.length, 4 + 100 - 56, "sixty-four wait in all");
  failed.close();
  await Promise.all([...all, ...others]);
  assert.equal(outcomes.filter((told) => told).length, 64);
});
