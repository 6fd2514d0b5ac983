import assert from "node:assert/strict";
import { test } from "node:test";

import { resumePlan, retryDelayMs } from "./resume-plan.ts";

test("the first connection follows what comes from now on, and a later one goes on after the last event", () => {
  assert.deepEqual(resumePlan(undefined, 70), { kind: "follow", after: 70 });
  assert.deepEqual(resumePlan(50, 70), { kind: "follow", after: 50 });
});

test("a page that slept for very long, or meets another state folder, reads everything anew", () => {
  assert.deepEqual(resumePlan(50, 90_000), { kind: "reload", after: 90_000, why: "too_far_behind" });
  assert.deepEqual(resumePlan(50, 7), { kind: "reload", after: 7, why: "other_state" });
});

test("tries come quickly at first and never more than five seconds apart", () => {
  assert.deepEqual([0, 1, 5, 100].map(retryDelayMs), [250, 500, 5_000, 5_000]);
});
