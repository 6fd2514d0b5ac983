import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../test/support/properties.ts";

import { escapeControls } from "./escape-controls.ts";

const forbidden =
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]|\r(?!\n)/;

/** Strings in which characters that a terminal obeys are frequent. */
const hostile = fc.string({
  unit: fc.oneof(
    fc.constantFrom(...Array.from("\u001b\u009b\u0007\r\n\t\u007f\u202e\u2066\u2028\u200f\u061c\ud800[];m\\")),
    fc.string({ unit: "binary", maxLength: 1 }),
  ),
});

test("no string brings a character to the terminal that the terminal would obey", () => {
  fc.assert(fc.property(hostile, (text) => assert.doesNotMatch(escapeControls(text), forbidden)));
});

test("JSON text has the same value afterwards", () => {
  fc.assert(
    fc.property(hostile, fc.constantFrom(0, 2), (text, indent) => {
      const written = escapeControls(JSON.stringify({ [text]: [text] }, null, indent));
      assert.deepEqual(JSON.parse(written), { [text]: [text] });
      assert.doesNotMatch(written, forbidden);
    }),
  );
});

test("line ends, tabs and joined emoji are left as they are", () => {
  const plain = "one\r\n\ttwo\n\u{1F468}\u200D\u{1F469}\u200D\u{1F467} \ufe0f";
  assert.equal(escapeControls(plain), plain);
  assert.equal(escapeControls("a\u001b[2J\u009bb\rc"), "a\\u001b[2J\\u009bb\\u000dc");
});
