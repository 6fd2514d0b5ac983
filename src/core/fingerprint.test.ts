import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../test/support/properties.ts";

import { fingerprint } from "./fingerprint.ts";

test("it is the same for the same JSON, a positive integer both SQLite and JavaScript hold, and 0 only without input", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const print = fingerprint(value);
      assert.equal(print, fingerprint(JSON.parse(JSON.stringify(value))));
      assert.ok(Number.isSafeInteger(print) && print > 0);
    }),
    { numRuns: 300 },
  );
  assert.equal(fingerprint(undefined), 0);
});

test("a hundred thousand inputs that differ in one character have a hundred thousand fingerprints", () => {
  const seen = new Set<number>();
  for (let index = 0; index < 100_000; index += 1) seen.add(fingerprint({ path: "notes.md", line: index }));
  assert.equal(seen.size, 100_000);
});
