import assert from "node:assert/strict";
import { test } from "node:test";

import { linearPattern } from "./linear-pattern.ts";
import { TuttiError } from "./protocol/error.ts";

test("a pattern that backtracks without end in JavaScript is answered at once", () => {
  const started = performance.now();
  for (const source of ["^(a+)+$", "^(a|a)*$", "(x+x+)+y", "^(?:.*){20}$b"]) {
    assert.equal(linearPattern(source).test(`${"a".repeat(50_000)}!`), false, source);
  }
  assert.ok(performance.now() - started < 5_000);
});

test("patterns are written as in JavaScript and match anywhere", () => {
  const matching: [string, string][] = [
    ["b+", "abbc"],
    ["^[A-Z]{2}-\\d{1,4}$", "AB-12"],
    ["\\u00e9", "café"],
    ["^\\p{Lu}", "Éa"],
    ["^a\\/b$", "a/b"],
    ["[^]", "\n"],
  ];
  for (const [source, text] of matching) assert.equal(linearPattern(source).test(text), true, source);
  assert.equal(linearPattern("^a.b$").test("a\nb"), false);
  assert.equal(linearPattern("^a.b$", { dotAll: true }).test("a\nb"), true);
});

test("the match and its groups are given, a group that took no part as nothing", () => {
  assert.deepEqual(linearPattern("(\\d+)-(x)?").exec("num 12-"), ["12-", "12", ""]);
  assert.equal(linearPattern("x").exec("y"), undefined);
});

test("what cannot be matched in linear time is refused and named", () => {
  const refused: [string, RegExp][] = [
    ["(a)\\1", /backreferences are not supported/],
    ["(?<n>a)\\k<n>", /backreferences are not supported/],
    ["a(?=b)", /lookahead and lookbehind are not supported/],
    ["(?<!a)b", /lookahead and lookbehind are not supported/],
    ["(", /missing closing/],
    ["a".repeat(1_001), /longer than 1000 characters/],
    ["a{1000}".repeat(100), /repeats too much/],
    [`(${"a".repeat(150)}){1000}`, /repeats too much/],
  ];
  for (const [source, expected] of refused) {
    assert.throws(
      () => linearPattern(source),
      (thrown) => thrown instanceof TuttiError && thrown.code === "invalid_input" && expected.test(thrown.message),
      source,
    );
  }
  for (const harmless of ["[(?=]", "\\(\\?=", "\\\\1", "[\\\\]1"]) assert.doesNotThrow(() => linearPattern(harmless));
});

test("a text that is too long for a large pattern is refused instead of matched for seconds", () => {
  const large = linearPattern("^(?:a?){500}b");
  assert.throws(
    () => large.test("a".repeat(1_000_000)),
    (thrown) => thrown instanceof TuttiError && thrown.code === "too_large",
  );
});
