import assert from "node:assert/strict";
import { test } from "node:test";

import { count, duration, money, plural, relativeTime } from "./show-time.ts";

test("times are told from now, in both directions", () => {
  const now = 1_000_000_000;
  assert.equal(relativeTime(now - 2_000, now), "just now");
  assert.equal(relativeTime(now - 42_000, now), "42 s ago");
  assert.equal(relativeTime(now + 3_600_000, now), "in 1 h");
  assert.equal(relativeTime(now - 5 * 86_400_000, now), "5 days ago");
});

test("durations, money and counts are short and honest", () => {
  assert.deepEqual(
    [duration(850), duration(4_200), duration(185_000), duration(7_800_000), duration(14_400_000)],
    ["850 ms", "4.2 s", "3 min 05 s", "2 h 10 min", "4 h"],
  );
  assert.deepEqual([money(0), money(120), money(1_234_567), money(250_000_000)], ["$0", "<$0.01", "$1.23", "$250"]);
  assert.deepEqual([count(999), count(12_300), count(999_600), count(4_100_000)], ["999", "12.3k", "1M", "4.1M"]);
  assert.deepEqual([plural(1, "task"), plural(2, "task")], ["1 task", "2 tasks"]);
});
