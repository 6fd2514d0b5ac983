import assert from "node:assert/strict";
import { test } from "node:test";

import { counted, duration, money } from "./units.ts";

test("a length of time has the unit that suits it, and is never negative", () => {
  const cases: [number, string][] = [
    [-5, "0 ms"],
    [999, "999 ms"],
    [1_000, "1.0 s"],
    [59_900, "59.9 s"],
    [60_000, "1 min 0 s"],
    [3_599_000, "59 min 59 s"],
    [3_600_000, "1 h 0 min"],
    [90_000_000, "25 h 0 min"],
  ];
  for (const [ms, text] of cases) assert.equal(duration(ms), text);
});

test("small amounts of money keep four digits, larger ones two", () => {
  assert.deepEqual([0, 20, 9_999, 10_000, 1_234_567].map(money), ["$0.0000", "$0.0000", "$0.0100", "$0.01", "$1.23"]);
});

test("a noun is singular only after one", () => {
  assert.deepEqual(
    [0, 1, 2].map((count) => counted(count, "task")),
    ["0 tasks", "1 task", "2 tasks"],
  );
});
