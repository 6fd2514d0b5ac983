import assert from "node:assert/strict";
import { test } from "node:test";

import { readBlocks, readInline } from "./read-markup.ts";

test("a fenced block stands apart, and one that never ends is text", () => {
  assert.deepEqual(readBlocks("I ran:\n```sh\nnpm test\n```\n\nIt **works**."), [
    { kind: "text", text: "I ran:" },
    { kind: "code", text: "npm test" },
    { kind: "text", text: "It **works**." },
  ]);
  const open = "a\n```js\nlet x;";
  assert.deepEqual(readBlocks(open), [{ kind: "text", text: open }]);
  assert.deepEqual(readBlocks("~~~\n```\n~~~"), [{ kind: "code", text: "```" }]);
  assert.deepEqual(readBlocks(""), []);
});

test("code and strong words in a line are told apart, and nothing of the text is lost", () => {
  assert.deepEqual(readInline("`a * b` is **not** 2 ** 3"), [
    { kind: "code", text: "a * b" },
    { kind: "plain", text: " is " },
    { kind: "strong", text: "not" },
    { kind: "plain", text: " 2 ** 3" },
  ]);
  for (const odd of ["** a **", "`", "a`\n`b", "****", "plain"]) {
    assert.deepEqual(readInline(odd), [{ kind: "plain", text: odd }]);
  }
});

test("text that is made to be slow is read in a moment", () => {
  const started = performance.now();
  for (const hostile of ["**a".repeat(50_000), "`".repeat(100_000), "```\n".repeat(50_001), "~~~x\n".repeat(50_000)]) {
    readInline(hostile);
    readBlocks(hostile);
  }
  assert.ok(performance.now() - started < 5_000);
});
