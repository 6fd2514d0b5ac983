import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../test/support/properties.ts";
import { capText } from "./cap-text.ts";

test("a short text stays as it is, and a long one says how much is missing", () => {
  assert.equal(capText("short", 5), "short");
  assert.equal(capText("x".repeat(10_000), 2_000), `${"x".repeat(2_000)} [truncated 8000 characters]`);
});

test("no character is cut in half", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1 }), fc.nat(40), (text, most) => {
      assert.ok(capText(text, most).isWellFormed());
    }),
  );
});
