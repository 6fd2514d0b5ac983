import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../test/support/properties.ts";

import { nearestLines } from "./nearest-lines.ts";

const text = ["function sum(a, b) {", "  return a + b;", "}", "", "function diff(a, b) {", "  return a - b;", "}"].join(
  "\n",
);

test("another indentation is found and named", () => {
  const [near, ...rest] = nearestLines(text, "function diff(a, b) {\n\treturn a - b;\n}");
  assert.deepEqual(near, {
    from: 5,
    to: 7,
    differs: "only in blanks",
    text: "function diff(a, b) {\n  return a - b;\n}",
    wanted: "\treturn a - b;",
    found: "  return a - b;",
  });
  assert.deepEqual(rest, []);
});

test("a wrong word in a line among right ones is found by the others", () => {
  const [near] = nearestLines(text, "function diff(a, b) {\n  return a * b;\n}");
  assert.deepEqual(
    [near?.from, near?.differs, near?.wanted, near?.found],
    [5, "in words", "  return a * b;", "  return a - b;"],
  );
});

test("a single line with a slip is found by its letters, one in other case by its words", () => {
  const [near] = nearestLines(text, "functoin sum(a, b) {");
  assert.deepEqual([near?.from, near?.found], [1, "function sum(a, b) {"]);
  const [other] = nearestLines(text, "FUNCTION SUM(A, B) {");
  assert.deepEqual([other?.from, other?.differs], [1, "only in upper and lower case"]);
});

test("what has nothing to do with the text is nowhere", () => {
  assert.deepEqual(nearestLines(text, "zzzz qqqq xxxx"), []);
  assert.deepEqual(nearestLines(text, " \n\n"), []);
  assert.deepEqual(nearestLines("", "abc"), []);
});

test("whatever it is given, it names lines that are there", () => {
  const lines = fc.array(fc.constantFrom("a", " a", "b()", "}", "", "return 1;", "return  1;"), { maxLength: 20 });
  fc.assert(
    fc.property(lines, lines, (here, wanted) => {
      for (const near of nearestLines(here.join("\n"), wanted.join("\n"))) {
        assert.ok(near.from >= 1 && near.to <= Math.max(1, here.length) && near.to >= near.from);
        assert.equal(near.text, here.slice(near.from - 1, near.to).join("\n"));
      }
    }),
    { numRuns: 500 },
  );
});
