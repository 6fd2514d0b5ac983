import assert from "node:assert/strict";
import { test } from "node:test";

import { labelWords, lagWords, leaseWords, worksAlone } from "./node-words.ts";

test("a lease says how much of it is left, that it ended, or that there is none", () => {
  assert.deepEqual([12_400, 0, null].map(leaseWords), ["12 s left", "ended", "none needed"]);
});

test("a node is up to date, or behind by what it did not take in and what has no place in the sequence", () => {
  const lags = [
    [0, 0],
    [1, 0],
    [0, 2],
    [3, 1],
  ] as const;
  assert.deepEqual(
    lags.map(([changes_behind, events_unplaced]) => lagWords({ changes_behind, events_unplaced })),
    ["up to date", "1 change behind", "2 events behind", "3 changes, 1 event behind"],
  );
});

test("only a service without a lease works alone, since one node on a database may be joined by others", () => {
  const listed = [null, 5_000].map((lease_left_ms) => [{ lease_left_ms }]);
  assert.deepEqual(listed.map(worksAlone), [true, false]);
});

test("of many labels the first are named, and the others counted", () => {
  const labels = Array.from({ length: 10 }, (_, index) => `l${index}`);
  assert.equal(labelWords(labels), "l0, l1, l2, l3, l4, l5, l6, l7, and 2 more");
  assert.equal(labelWords(labels.slice(0, 8)), "l0, l1, l2, l3, l4, l5, l6, l7");
});
