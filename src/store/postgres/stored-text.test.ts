import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../../test/support/properties.ts";
import { readText, storedText } from "./stored-text.ts";

test("any text can be stored and comes back as it was, except for halves of characters", () => {
  const unit = fc.constantFrom("\0", "\u0001", "0", "a", "\ud800", "é");
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 12 }), (text) => {
      const stored = storedText(text);
      assert.ok(!stored.includes("\0") && stored.isWellFormed());
      assert.equal(readText(stored), text.toWellFormed());
    }),
    { numRuns: 500 },
  );
});
