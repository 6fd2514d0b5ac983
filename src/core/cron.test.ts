import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../test/support/properties.ts";
import { failsWith } from "../../test/support/try-tool.ts";
import { type Cron, nextTime, type Offset, parseCron, timesBetween } from "./cron.ts";

const hour = 3_600_000;
const minute = 60_000;
const utc: Offset = () => 0;
/** One hour ahead, two hours from 29 March 2026, 01:00 UTC, to 25 October 2026, 01:00 UTC. */
const summer = { begin: Date.UTC(2026, 2, 29, 1), end: Date.UTC(2026, 9, 25, 1) };
const berlin: Offset = (at) => (at >= summer.begin && at < summer.end ? 2 * hour : hour);
const at = (text: string): number => Date.parse(text);
const next = (cron: string, after: string, offset: Offset = utc): string =>
  new Date(nextTime(parseCron(cron), at(after), offset)).toISOString().slice(0, 16);

test("names, ranges, steps, lists and short forms", () => {
  assert.equal(next("*/15 * * * *", "2026-01-01T00:01Z"), "2026-01-01T00:15");
  assert.equal(next("0 9 * * mon-fri", "2026-01-02T09:00Z"), "2026-01-05T09:00");
  assert.equal(next("30 8,20 1 JAN,jul *", "2026-01-01T08:30Z"), "2026-01-01T20:30");
  assert.equal(next("5/20 * * * *", "2026-01-01T00:05Z"), "2026-01-01T00:25");
  assert.equal(next("0 0 * * 7", "2026-01-01T00:00Z"), "2026-01-04T00:00");
  assert.equal(next("0 0 13 * fri", "2026-01-01T00:00Z"), "2026-01-02T00:00", "one of the two days is enough");
  assert.equal(next("0 0 29 2 *", "2096-03-01T00:00Z"), "2104-02-29T00:00");
  assert.equal(next(" @Daily ", "2026-01-01T00:00Z"), "2026-01-02T00:00");
});

test("what is wrong is said with its field", () => {
  const refused = (text: string, why: RegExp): void =>
    assert.throws(() => parseCron(text), failsWith("invalid_input", why));
  refused("* * * *", /needs five fields/);
  refused("60 * * * *", /"60" is no minute; write 0 to 59/);
  refused("* * * foo *", /"foo" is no month; write 1 to 12 or jan to dec/);
  refused("* 5-2 * * *", /"5-2" is no hour/);
  refused("*/0 * * * *", /is no minute/);
  refused("* * 1,, * *", /is no day of the month/);
  refused("0 0 30 2 *", /there is no such date/);
  refused("", /needs five fields/);
});

test("a time that the clock skips comes once, right after the gap", () => {
  assert.equal(next("30 2 * * *", "2026-03-28T12:00Z", berlin), "2026-03-29T01:00");
  assert.equal(next("30 2 * * *", "2026-03-29T01:00Z", berlin), "2026-03-30T00:30");
  assert.equal(next("*/10 2 * * *", "2026-03-29T00:59Z", berlin), "2026-03-29T01:00");
  assert.equal(next("*/10 2 * * *", "2026-03-29T01:00Z", berlin), "2026-03-30T00:00");
});

test("a time that the clock shows twice comes the first time only", () => {
  assert.equal(next("30 2 * * *", "2026-10-24T12:00Z", berlin), "2026-10-25T00:30");
  assert.equal(next("30 2 * * *", "2026-10-25T00:30Z", berlin), "2026-10-26T01:30");
  assert.equal(next("30 2 * * *", "2026-10-25T01:10Z", berlin), "2026-10-26T01:30");
});

/** Looks at every minute: it is a time if the clock shows a match that it did not show or skip before. */
function naive(cron: Cron, after: number, offset: Offset): number | undefined {
  const matches = (wall: number): boolean => {
    const date = new Date(wall);
    const [byDate, byDay] = [cron.days.has(date.getUTCDate()), cron.weekdays.has(date.getUTCDay())];
    return (
      cron.minutes.includes(date.getUTCMinutes()) &&
      cron.hours.includes(date.getUTCHours()) &&
      cron.months.has(date.getUTCMonth() + 1) &&
      (cron.eitherDay ? byDate || byDay : byDate && byDay)
    );
  };
  const start = Math.floor(after / minute) * minute - 3 * hour;
  let shown = start + offset(start);
  for (let instant = start + minute; instant < start + 40 * 24 * hour; instant += minute) {
    const wall = instant + offset(instant);
    let matched = false;
    for (let each = shown + minute; each <= wall; each += minute) matched ||= matches(each);
    shown = Math.max(shown, wall);
    if (matched && instant > after) return instant;
  }
  return undefined;
}

const field = (from: number, to: number) =>
  fc.oneof(
    fc.constant("*"),
    fc.integer({ min: from, max: to }).map(String),
    fc.integer({ min: 1, max: 20 }).map((step) => `*/${step}`),
    fc
      .tuple(fc.integer({ min: from, max: to }), fc.integer({ min: from, max: to }))
      .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
    fc.array(fc.integer({ min: from, max: to }), { minLength: 1, maxLength: 3 }).map((list) => list.join(",")),
  );

test("the next time is the one that a search minute by minute finds, in every zone and through summer time", () => {
  const crons = fc
    .tuple(field(0, 59), field(0, 23), field(1, 28), fc.constant("*"), field(0, 7))
    .map((parts) => parts.join(" "));
  const changes = fc.record({
    base: fc.constantFrom(-10, -3.5, 0, 1, 5.75, 12),
    shift: fc.constantFrom(-1, -0.5, 0, 0.5, 1, 2, 24),
    when: fc.integer({ min: -48 * 60, max: 48 * 60 }),
  });
  const from = Date.UTC(2026, 4, 20);
  fc.assert(
    fc.property(crons, changes, fc.integer({ min: 0, max: 6 * 24 * 60 }), (text, { base, shift, when }, later) => {
      const cron = parseCron(text);
      const change = from + 3 * 24 * hour + when * minute;
      const offset: Offset = (instant) => (base + (instant >= change ? shift : 0)) * hour;
      const after = from + later * minute + 1;
      const expected = naive(cron, after, offset);
      if (expected !== undefined)
        assert.equal(new Date(nextTime(cron, after, offset)).toISOString(), new Date(expected).toISOString());
    }),
    { numRuns: 60 },
  );
});

test("the times of a long absence are counted, and only the newest are kept", () => {
  const missed = timesBetween(
    parseCron("0 * * * *"),
    { after: at("2026-01-01T00:00Z"), until: at("2026-01-02T00:00Z"), keep: 2 },
    utc,
  );
  assert.deepEqual([missed.count, missed.newest.map((each) => new Date(each).getUTCHours())], [24, [23, 0]]);
});
