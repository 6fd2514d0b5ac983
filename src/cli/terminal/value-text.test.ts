import assert from "node:assert/strict";
import { test } from "node:test";

import { resultText, valueText } from "./value-text.ts";

test("a value is shown as it is when it is text, and as JSON otherwise", () => {
  assert.deepEqual(["a\nb", 1, null, { a: [1] }, undefined].map(valueText), ["a\nb", "1", "null", '{"a":[1]}', ""]);
});

test("a result that is an error is shown by its message", () => {
  assert.equal(resultText({ code: "io", message: "the disk is gone", retry: "never" }), "the disk is gone");
  assert.equal(resultText({ message: "no code, so no error" }), '{"message":"no code, so no error"}');
});

test("a result that is data can be indented", () => {
  assert.equal(resultText({ a: 1 }, { indent: 2 }), '{\n  "a": 1\n}');
  assert.equal(resultText("text", { indent: 2 }), "text");
});
