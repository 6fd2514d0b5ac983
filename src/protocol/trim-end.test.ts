import assert from "node:assert/strict";
import { test } from "node:test";

import { trimEndOf } from "./trim-end.ts";

test("only the given characters at the end are taken off, and many of them elsewhere take no time", () => {
  assert.equal(trimEndOf("http://a/b//", "/"), "http://a/b");
  assert.equal(trimEndOf("a. .", ". "), "a");
  assert.equal(trimEndOf("///", "/"), "");
  const slashes = `${"/".repeat(500_000)}x`;
  const begun = performance.now();
  assert.equal(trimEndOf(slashes, "/"), slashes);
  assert.ok(performance.now() - begun < 500);
});
