import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../../test/support/properties.ts";

import { widthOf } from "./fit.ts";
import { painted } from "./style.ts";
import { rendered } from "./style.ts";
import { wrapped } from "./wrap.ts";

const plain = (text: string): string => rendered(text, { colors: false });

test("text breaks between words, and every line has its indent", () => {
  assert.equal(wrapped("one two three four five", { width: 24, indent: 2, hang: 2 }), "  one two three four\n    five");
  assert.equal(wrapped("a\n  b", { width: 40, indent: 2 }), "  a\n    b", "a line keeps the spaces it begins with");
  assert.equal(wrapped("x".repeat(30), { width: 20, indent: 2 }), `  ${"x".repeat(18)}\n  ${"x".repeat(12)}`);
  assert.equal(
    wrapped("漢字 漢字 漢字 漢字 漢", { width: 16 }),
    "漢字 漢字 漢字\n漢字 漢",
    "wide characters take two columns",
  );
});

test("a line goes on below its own text, and a word that fits no row begins where the line is", () => {
  assert.equal(
    wrapped("a\n  one two three four five", { width: 22, indent: 2 }),
    "  a\n    one two three four\n    five",
  );
  assert.equal(wrapped("- one two three four", { width: 18 }), "- one two three\n  four");
  assert.equal(wrapped(`at ${"x".repeat(30)}`, { width: 20 }), `at ${"x".repeat(17)}\n${"x".repeat(13)}`);
});

test("without a terminal nothing is broken, and only indents are added", () => {
  assert.equal(wrapped("a b\nc", { width: Infinity, indent: 2 }), "  a b\n  c");
});

test("no line is wider than the terminal, and nothing but spaces is lost, with colours and without", () => {
  const word = fc.oneof(fc.string({ unit: "grapheme", maxLength: 30 }), fc.constantFrom(" ", "\n", "漢字", "🙂", "\t"));
  const text = fc
    .array(
      fc.oneof(
        word,
        word.map((each) => painted("bold", each)),
      ),
      { maxLength: 30 },
    )
    .map((all) => all.join(""));
  const options = fc.record({
    width: fc.integer({ min: 20, max: 100 }),
    indent: fc.integer({ min: 0, max: 30 }),
    hang: fc.integer({ min: 0, max: 8 }),
  });
  fc.assert(
    fc.property(text, options, (given, how) => {
      const shown = plain(wrapped(given, how));
      assert.equal(
        shown.replaceAll(/[ \n]/g, ""),
        plain(given)
          .replaceAll("\r\n", "\n")
          .replaceAll(/[ \n\t]/g, ""),
      );
      for (const line of shown.split("\n")) assert.ok(widthOf(line) <= how.width, `${line}|`);
    }),
    { numRuns: 300 },
  );
});
