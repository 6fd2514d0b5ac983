import assert from "node:assert/strict";
import { test } from "node:test";

import { endOfNumber, endOfString } from "./json-lexeme.ts";

test("a string ends behind its closing quote, escapes and pairs included", () => {
  for (const literal of ['""', '"a{"', '"\\""', '"\\\\"', '"\\u00e9\\n"', '"\\ud83d\\udc1b"', '"🐛"']) {
    assert.equal(endOfString(`${literal}"x`, 0, literal.length + 2), literal.length, literal);
  }
});

test("a string that is not JSON is refused at its fault", () => {
  const faults = {
    '"a\nb"': 2,
    '"a\\x"': 2,
    '"\\u12"': 1,
    '"\\ud83d"': 1,
    '"\\ud83d\\n"': 1,
    '"\\udc1b"': 1,
    '"open': 5,
  };
  for (const [literal, at] of Object.entries(faults)) {
    assert.equal(~endOfString(literal, 0, literal.length), at, literal);
  }
});

test("a number ends where JSON ends it", () => {
  const ends = { "0": 1, "-1.5e+3,": 7, "01": 1, "1.": 1, "+1": 0, "-": 0, ".5": 0, "1e999": 0, "1e-999": 6, NaN: 0 };
  for (const [text, end] of Object.entries(ends)) assert.equal(endOfNumber(text, 0), end, text);
});
