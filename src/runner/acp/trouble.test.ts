import assert from "node:assert/strict";
import { test } from "node:test";

import { troubleIn } from "./trouble.ts";

const now = new Date(2026, 0, 5, 12).getTime();
const hour = 60 * 60_000;

test("a usage limit is recognized with the time of its reset", () => {
  const table: [text: string, until: number][] = [
    [`Claude AI usage limit reached|${now / 1_000 + 600}`, now + 600_000],
    ["You've hit your usage limit. Try again in 2 hours 5 minutes.", now + 2 * hour + 5 * 60_000],
    ["You've hit your limit · resets 3pm (Europe/Berlin)", new Date(2026, 0, 5, 15).getTime()],
    ["5-hour limit reached ∙ resets at 9:30am", new Date(2026, 0, 6, 9, 30).getTime()],
    ["Usage limit reached", now + hour],
    ["Quota exceeded, retry in 9000 days", now + 8 * 24 * hour],
  ];
  for (const [text, until] of table) assert.deepEqual(troubleIn(text, now), { kind: "limit", until }, text);
});

test("a missing login is recognized, and a text that only mentions such things is not", () => {
  for (const text of ["Not logged in · Please run /login", "Invalid API key", "Authentication required"]) {
    assert.deepEqual(troubleIn(text, now), { kind: "login" }, text);
  }
  for (const text of ["I added a message for `usage limit reached`.", "The tests say: not logged in", ""]) {
    assert.equal(troubleIn(text, now), undefined, text);
  }
});
