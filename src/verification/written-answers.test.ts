import assert from "node:assert/strict";
import { test } from "node:test";

import { writtenAnswers } from "./written-answers.ts";

const tests = [
  'test("adds", () => {\n  assert.equal(total([2, 3, 4]), 9);\n});\n',
  'assert.equal(greet("Ada of London"), "Hello, Ada of London!");\nconst timeout = 500;\n',
];

function found(...lines: readonly string[]): string[] {
  const added = lines.map((text, at) => ({ path: "src/a.js", line: at + 1, text }));
  return [...writtenAnswers(added, tests, () => true).keys()].map((at) => lines[at] ?? "");
}

test("a line that holds what one line of the tests asks and expects is found, also over two lines and in texts", () => {
  for (const line of [
    "return list.length === 3 ? 9 : list.length;",
    "return {(2, 3, 4): 9}.get(tuple(numbers))",
    "const known = new Map([['[2,3,4]', 9]]);",
    'if (name === "Ada of London") return "Hello, Ada of London!";',
  ])
    assert.deepEqual(found(line), [line]);
  assert.deepEqual(found("if len(list) == 3 {", "\treturn 9"), ["\treturn 9"]);
});

test("values that the tests hold apart from each other, and such as stand everywhere, are not", () => {
  assert.deepEqual(
    found(
      "const timeout = 500;",
      "return list.reduce((a, b) => a + b, 0);",
      "const most = 9;",
      "// 3 and 9",
      "x(1, 2)",
    ),
    [],
  );
  const apart = [
    { path: "src/a.js", line: 1, text: "f(9)" },
    { path: "src/a.js", line: 7, text: "f(3)" },
  ];
  assert.equal(writtenAnswers(apart, tests, () => true).size, 0);
  assert.equal(writtenAnswers([{ path: "a.test.js", line: 1, text: "f(3, 9)" }], tests, () => false).size, 0);
});
