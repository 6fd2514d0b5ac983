import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { oneLine, printable } from "./printable.ts";

test("codes that move the cursor, change the title or turn the text around are removed", () => {
  assert.equal(printable("a\u001b[2Jb\u001b]0;title\u0007c\u009bd\u202ee"), "a[2Jb]0;titlecde");
});

test("line ends and tabs are kept, and a carriage return cannot overwrite a line", () => {
  assert.equal(printable("a\r\nb\tc\rd\n"), "a\nb\tcd\n");
});

test("no text can bring a control character to the terminal", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      // oxlint-disable-next-line no-control-regex -- control characters are what this is about
      assert.doesNotMatch(printable(text), /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
    }),
  );
});

test("one line is the first one, cut to the length, with the number of lines that follow", () => {
  assert.equal(oneLine("one", 5), "one");
  assert.equal(oneLine("\n  one\ntwo\nthree\n", 10), "one (+2 lines)");
  assert.equal(oneLine("abcdef", 5), "abcd…");
  assert.equal(oneLine("👍👍👍", 3), "👍👍👍");
});
