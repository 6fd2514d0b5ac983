import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { visibleLine, visiblePieces } from "./mark-invisible.ts";

test("a mark that reorders text is shown by its number", () => {
  assert.deepEqual(visiblePieces("safe\u202egnp.exe"), [
    { text: "safe", hidden: false },
    { text: "U+202E", hidden: true },
    { text: "gnp.exe", hidden: false },
  ]);
});

test("line breaks and tabs stay, and a line that ends in both signs ends in one", () => {
  assert.deepEqual(visiblePieces("a\r\n\tb"), [{ text: "a\n\tb", hidden: false }]);
});

test("a lone carriage return, an escape and a zero-width space are marks", () => {
  assert.equal(visibleLine("a\rb\u001bc\u200bd"), "aU+000DbU+001BcU+200Bd");
});

test("whatever comes in, nothing invisible comes out", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      for (const piece of visiblePieces(text)) {
        assert.doesNotMatch(piece.text.replaceAll(/[\n\t]/g, ""), /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      }
    }),
  );
});
