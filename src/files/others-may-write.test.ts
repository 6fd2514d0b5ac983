import assert from "node:assert/strict";
import { test } from "node:test";

import { othersMayWrite } from "./others-may-write.ts";

test("a file that only its owner can write is the owner's alone", () => {
  for (const mode of [0o600, 0o644, 0o755]) assert.equal(othersMayWrite({ mode, uid: 1000, gid: 100 }), false);
});

test("a group that others can be in counts as others, the user's own group does not", () => {
  assert.equal(othersMayWrite({ mode: 0o775, uid: 1000, gid: 100 }), true);
  assert.equal(othersMayWrite({ mode: 0o775, uid: 1000, gid: 1000 }), false);
});

test("what anybody can write is never the owner's alone", () => {
  assert.equal(othersMayWrite({ mode: 0o777, uid: 1000, gid: 1000 }), true);
  assert.equal(othersMayWrite({ mode: 0o602, uid: 1000, gid: 1000 }), true);
});
