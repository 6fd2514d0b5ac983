import assert from "node:assert/strict";
import { test } from "node:test";

import { cut, shorten } from "./fit.ts";
import { painted, rendered } from "./style.ts";

const family = "\u{1F468}\u200D\u{1F469}\u200D\u{1F467}";

test("text is shortened between visible characters, with an ellipsis", () => {
  assert.equal(shorten(`${family}ab`, 4), `${family}ab`);
  assert.equal(shorten(`${family}abc`, 4), `${family}a…`);
});

test("a line is cut one column before the edge, and colours of ours take no room", () => {
  const line = cut(`${painted("bold", "abcdef")}gh`, 5);
  assert.equal(rendered(line, { colors: true }), "\u001b[1mabcd\u001b[0m");
  assert.equal(cut("\u001b[1mab", 5), "\\u00", "foreign codes are text");
  assert.equal(cut("abc", 5), "abc");
});
