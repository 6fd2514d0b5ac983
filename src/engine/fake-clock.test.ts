import assert from "node:assert/strict";
import { test } from "node:test";

import { fakeClock } from "./fake-clock.ts";

test("timers fire in the order of their time, those of the same time in the order they were set", () => {
  const clock = fakeClock(1_000);
  const fired: string[] = [];
  clock.timer(20, () => fired.push(`c at ${clock.now()}`));
  clock.timer(10, () => fired.push(`a at ${clock.now()}`));
  clock.timer(10, () => fired.push(`b at ${clock.now()}`));
  clock.timer(21, () => fired.push("d"));
  clock.advance(20);
  assert.deepEqual(fired, ["a at 1010", "b at 1010", "c at 1020"]);
  assert.equal(clock.now(), 1_020);
});

test("a timer that was called off does not fire, and one set by another fires within the same advance", () => {
  const clock = fakeClock(0);
  const fired: number[] = [];
  const callOff = clock.timer(5, () => fired.push(5));
  clock.timer(1, () => {
    callOff();
    clock.timer(2, () => fired.push(clock.now()));
  });
  clock.advance(10);
  assert.deepEqual(fired, [3]);
  assert.equal(clock.now(), 10);
});

test("next goes to the earliest timer and says when there is none", () => {
  const clock = fakeClock(0);
  const fired: number[] = [];
  clock.timer(7, () => fired.push(clock.now()));
  assert.equal(clock.next(), true);
  assert.equal(clock.next(), false);
  assert.deepEqual([fired, clock.now()], [[7], 7]);
});
