import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../../test/support/properties.ts";

import { pageOf } from "./page-rows.ts";

test("consecutive pages have every row once, stay within the limits, and only the last has no more", () => {
  const anyLengths = fc.array(fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 500, max: 3_000 })), {
    maxLength: 300,
  });
  fc.assert(
    fc.property(
      anyLengths,
      fc.integer({ min: 1, max: 250 }),
      fc.integer({ min: 1, max: 4_000 }),
      (lengths, limit, maxLength) => {
        const seen: number[] = [];
        for (let more = true; more;) {
          let taken = 0;
          const rest = Iterator.from(lengths.slice(seen.length)).map((length) => ((taken += 1), length));
          const page = pageOf(rest, { limit, maxLength }, (length) => length);
          assert.ok(page.rows.length <= limit && taken <= page.rows.length + 1);
          assert.ok(page.rows.slice(0, -1).reduce((sum, length) => sum + length, 0) < maxLength);
          assert.ok(page.rows.length > 0 || !page.more);
          seen.push(...page.rows);
          ({ more } = page);
          assert.equal(more, seen.length < lengths.length);
        }
        assert.deepEqual(seen, lengths);
      },
    ),
    { numRuns: 200 },
  );
});
