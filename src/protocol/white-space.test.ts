import assert from "node:assert/strict";
import { test } from "node:test";

import { trimSpace } from "./white-space.ts";

test("trims exactly the Unicode White_Space characters from both ends", () => {
  for (let code = 0; code <= 0xffff; code += 1) {
    const char = String.fromCharCode(code);
    const white = /\p{White_Space}/u.test(char);
    assert.equal(trimSpace(`${char}a b${char}`), white ? "a b" : `${char}a b${char}`, code.toString(16));
  }
});

test("text that is only space becomes empty", () => {
  assert.equal(trimSpace(" \t\n"), "");
  assert.equal(trimSpace(""), "");
});
