import assert from "node:assert/strict";
import { test } from "node:test";

import { readCheck } from "./read-check.ts";

test("a check is split by its quotes, and an argument list is taken as it is", () => {
  assert.deepEqual(readCheck(`npm test -- --grep "a | b" 'it''s'`), ["npm", "test", "--", "--grep", "a | b", "its"]);
  assert.deepEqual(readCheck({ run: ["sh", "-c", "a && b"] }), ["sh", "-c", "a && b"]);
});

test("a line that only a shell could run is refused, because a part of it would not be checked", () => {
  for (const line of [
    "npm test && npm run lint",
    "a | b",
    "a; b",
    "a > b",
    "a $(b)",
    "a `b`",
    "CI=1 npm test",
    "a\nb",
    "a &",
  ]) {
    assert.throws(() => readCheck(line), { code: "invalid_input" }, line);
  }
  for (const line of ["", "  ", 'a "b']) assert.throws(() => readCheck(line), { code: "invalid_input" }, line);
  assert.throws(() => readCheck({ run: [""] }), { code: "invalid_input" });
});
