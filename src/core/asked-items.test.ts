import assert from "node:assert/strict";
import { test } from "node:test";

import { askedItems } from "./asked-items.ts";

test("the number of files to be changed is read where a sentence asks for a change of so many", () => {
  for (const [text, count] of [
    ["Update all 6 files in docs.", 6],
    ["Add a header to each of the 12 source files.", 12],
    ["Put the license into every one of the six pages", 6],
    ["Rename x in all of the 3 modules; look at 9 files first", 3],
  ] as const) {
    assert.equal(askedItems(text), count, text);
  }
});

test("what is only to be looked at, or has no number, is no number of changes", () => {
  for (const text of [
    "Look at all 6 files and fix the one that is wrong.",
    "Update every file.",
    "Find which of all 40 files use it.",
    "Fix the 2 bugs.",
  ]) {
    assert.equal(askedItems(text), undefined, text);
  }
});
