import assert from "node:assert/strict";
import { test } from "node:test";

import { KeySet } from "./key-set.ts";

test("a key is taken once, among few and among many", () => {
  const keys = new KeySet();
  for (let at = 0; at < 40; at += 1) {
    assert.equal(keys.add(`key ${at}`), true);
    for (let before = 0; before <= at; before += 1) assert.equal(keys.add(`key ${before}`), false);
  }
});
