import assert from "node:assert/strict";
import { test } from "node:test";

import { cutText } from "./cut-text.ts";

test("short text is whole", () => {
  assert.deepEqual(cutText("a\nb", 10), { shown: "a\nb", left: 0 });
  assert.deepEqual(cutText("", 10), { shown: "", left: 0 });
});

test("text of many lines is cut after the last line that fits", () => {
  assert.deepEqual(cutText("a\nb\nc\nd", 2), { shown: "a\nb\n", left: 3 });
});

test("one huge line is cut, and a character of two halves stays whole", () => {
  const { shown, left } = cutText("😀".repeat(3_000), 10);
  assert.equal(shown, "😀".repeat(1_000));
  assert.equal(left, 4_000);
  const odd = cutText(`a${"😀".repeat(3_000)}`, 10);
  assert.equal(odd.shown, `a${"😀".repeat(999)}`);
});
