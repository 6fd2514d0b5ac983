import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { highlightLine } from "./highlight-code.ts";

test("keywords, strings, numbers and comments are told apart", () => {
  assert.deepEqual(
    highlightLine('const a = "b" + 12; // why', "x.ts").map(({ kind, text }) => [kind, text]),
    [
      ["keyword", "const"],
      ["plain", " a = "],
      ["string", '"b"'],
      ["plain", " + "],
      ["number", "12"],
      ["plain", "; "],
      ["comment", "// why"],
    ],
  );
});

test("a hash begins a comment only in languages where it does", () => {
  assert.equal(highlightLine("x # y", "a.py").at(-1)?.kind, "comment");
  assert.equal(highlightLine("x # y", "a.ts").at(-1)?.kind, "plain");
});

test("colouring changes no character of any line", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.constantFrom("a.ts", "a.py", "a.md"), (line, path) => {
      assert.equal(
        highlightLine(line, path)
          .map(({ text }) => text)
          .join(""),
        line,
      );
    }),
  );
});
