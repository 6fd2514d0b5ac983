import assert from "node:assert/strict";
import { test } from "node:test";

import { niceTop } from "./nice-top.ts";

test("an axis ends at a round number that is not below the largest value", () => {
  assert.deepEqual([0, 1, 3, 7, 20, 51, 0.03].map(niceTop), [1, 1, 5, 10, 20, 100, 0.05]);
  assert.equal(niceTop(Number.NaN), 1);
});
