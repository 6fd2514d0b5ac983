import assert from "node:assert/strict";
import { test } from "node:test";

import { exactText, hasCrlf, isBinary } from "./text-file.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test("text in any script is text, also when the sample cuts a character", () => {
  for (const text of ["", "plain", "日本語のテキスト", "naïve 🙂"]) assert.equal(isBinary(bytes(text)), false);
  assert.equal(isBinary(bytes("日本語".repeat(50)).subarray(0, -1)), false);
});

test("a zero byte, or much that is not UTF-8, makes a file binary", () => {
  assert.equal(isBinary(new Uint8Array([104, 0, 105])), true);
  assert.equal(isBinary(new Uint8Array(200).fill(0xff)), true);
});

test("text is exact only when decoding it loses nothing", () => {
  assert.equal(exactText(bytes("\uFEFFé")), "\uFEFFé");
  assert.equal(exactText(new Uint8Array([0xe9])), undefined);
});

test("a file has Windows line ends only when every line has one", () => {
  assert.equal(hasCrlf("a\r\nb\r\n"), true);
  for (const text of ["a", "a\nb", "a\r\nb\n", "a\rb\r\n"]) assert.equal(hasCrlf(text), false);
});
