import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import type { TaskEvent } from "../../protocol/task/event.ts";
import type { EventFeed, FeedEvent } from "../state/event-feed.ts";
import { readEventPage } from "./event-page.ts";

/** A feed of events with these lengths, which records how many events each read returned. */
function feedOf(lengths: readonly number[]) {
  const all = lengths.map((length, index): FeedEvent => {
    const event: TaskEvent = {
      seq: index + 1,
      at: 0,
      task: "tsk_a_1",
      root: "tsk_a_1",
      attempt: 1,
      run: 1,
      type: "task.started",
      data: {},
    };
    return { event, json: "x".repeat(length) };
  });
  const reads: number[] = [];
  const feed: Pick<EventFeed, "read"> = {
    async read({ after, limit }) {
      const found = all.filter(({ event }) => event.seq > after).slice(0, limit);
      reads.push(found.length);
      return found;
    },
  };
  return { feed, reads };
}

test("consecutive pages have every event once, stay within the limits, and only the last has no more", async () => {
  const anyLengths = fc.array(fc.oneof(fc.integer({ min: 2, max: 40 }), fc.integer({ min: 500, max: 3_000 })), {
    maxLength: 300,
  });
  await fc.assert(
    fc.asyncProperty(
      anyLengths,
      fc.integer({ min: 1, max: 250 }),
      fc.integer({ min: 1, max: 4_000 }),
      async (lengths, limit, maxLength) => {
        const { feed } = feedOf(lengths);
        const seen: number[] = [];
        for (let more = true; more;) {
          const page = await readEventPage(feed, { after: seen.at(-1) ?? 0, limit, maxLength });
          assert.ok(page.events.length <= limit);
          const before = page.events.slice(0, -1).reduce((sum, { json }) => sum + json.length, 0);
          assert.ok(before < maxLength, "only the last event may reach the length");
          seen.push(...page.events.map(({ event }) => event.seq));
          ({ more } = page);
          assert.equal(more, seen.length < lengths.length);
          assert.ok(page.events.length > 0 || !more);
        }
        assert.deepEqual(
          seen,
          lengths.map((_, index) => index + 1),
        );
      },
    ),
    { numRuns: 200 },
  );
});

test("long events are read a few at a time, short ones a page in a few reads", async () => {
  const long = feedOf(Array.from({ length: 1_000 }, () => 2_000_000));
  assert.equal((await readEventPage(long.feed, { after: 0, limit: 1_000, maxLength: 64 * 1024 })).events.length, 1);
  assert.deepEqual(long.reads, [9]);
  const short = feedOf(Array.from({ length: 1_000 }, () => 300));
  assert.equal((await readEventPage(short.feed, { after: 0, limit: 200, maxLength: 64 * 1024 })).events.length, 200);
  assert.ok(short.reads.length <= 6, `${short.reads.length} reads`);
});
