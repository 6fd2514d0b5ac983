import assert from "node:assert/strict";
import { test } from "node:test";

import { FailedAttempts } from "./failed-attempts.ts";

test("each failure of an address is delayed longer, up to two seconds, and other addresses are not", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"] });
  const failed = new FailedAttempts();
  const took: number[] = [];
  for (let count = 0; count < 10; count += 1) {
    let answered = false;
    void failed.wait("a").then(() => (answered = true));
    let ms = 0;
    for (; ms < 5_000 && !answered; ms += 25) {
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

test("after a minute without a failure the delays of an address start again", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"] });
  const failed = new FailedAttempts();
  for (let count = 0; count < 6; count += 1) {
    void failed.wait("a");
    t.mock.timers.tick(2_000);
  }
  t.mock.timers.tick(60_001);
  let answered = false;
  void failed.wait("a").then(() => (answered = true));
  t.mock.timers.tick(25);
  await Promise.resolve();
  assert.ok(answered);
});

test("only a limited number of failures wait, per address and in all; the rest are answered at once", async () => {
  const failed = new FailedAttempts();
  const outcomes: boolean[] = [];
  const all = Array.from({ length: 12 }, () => failed.wait("a").then((waited) => outcomes.push(waited)));
  await Promise.resolve();
  assert.deepEqual(outcomes, [false, false, false, false], "eight of one address wait");
  const others = Array.from({ length: 100 }, (_, at) => failed.wait(`b${at}`).then((waited) => outcomes.push(waited)));
  await Promise.resolve();
  assert.equal(outcomes.length, 4 + 100 - 56, "sixty-four wait in all");
  failed.close();
  await Promise.all([...all, ...others]);
  assert.equal(outcomes.filter((waited) => waited).length, 64);
});
