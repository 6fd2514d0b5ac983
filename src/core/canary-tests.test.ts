import assert from "node:assert/strict";
import { test } from "node:test";

import { mayHoldTests, plantCanary, plantScript } from "./canary-tests.ts";

const ids = { asserts: "z0000000000000001", throws: "z0000000000000002", passes: "z0000000000000003" };

function added(path: string, text: string): string {
  return [...(plantCanary({ path, text }, ids)?.added.values() ?? [])].join("\n");
}

test("each test file gets the tests in its own words, after what it holds", () => {
  const files: readonly (readonly [path: string, text: string, expected: RegExp])[] = [
    ["a.test.js", 'import { test } from "node:test";\n', /import \* as Tz\w+ from "node:test"/],
    ["a.test.cjs", 'const { test } = require("node:test");\n', /const Tz\w+ = require\("node:test"\)/],
    ["a.test.ts", 'import { test, expect } from "vitest";\n', /\.expect; return e\(1\)\.toBe\(2\)/],
    ["a.test.js", 'describe("a", () => { it("b", () => {}); });\n', /globalThis\.test \?\? globalThis\.it/],
    ["test_a.py", "def test_a():\n    pass\n", /^def test_z0000000000000001\(\):/m],
    [
      "test_a.py",
      "import unittest\nclass A(unittest.TestCase):\n    pass\n",
      /^class Test0000000000000001\(uz\w+\.TestCase\):/m,
    ],
    ["a_test.go", 'package a\n\nimport "testing"\n\nfunc TestA(t *testing.T) {}\n', /func TestXz0000000000000002\(/],
    ["src/lib.rs", "#[cfg(test)]\nmod tests {}\n", /mod mz0000000000000001 \{/],
  ];
  for (const [path, text, expected] of files) {
    assert.match(added(path, text), expected, path);
    for (const id of Object.values(ids)) assert.ok(added(path, text).includes(id), path);
  }
});

test("tests in a script of Python come before the part that runs them", () => {
  const text =
    'import unittest\nclass A(unittest.TestCase):\n    pass\nif __name__ == "__main__":\n    unittest.main()\n';
  const planted = added("test_a.py", text);
  assert.ok(planted.indexOf(ids.asserts) < planted.indexOf("if __name__"));
});

test("what holds no tests that are understood gets none", () => {
  assert.equal(plantCanary({ path: "test/data.js", text: "export const a = 1;\n" }, ids), undefined);
  assert.equal(
    plantCanary({ path: "a.test.js", text: 'import test from "ava";\ntest("a", () => {});\n' }, ids),
    undefined,
  );
  assert.equal(plantCanary({ path: "src/lib.rs", text: "pub fn a() {}\n" }, ids), undefined);
  assert.deepEqual(["src/a.js", "node_modules/a/a.test.js", "README.md"].filter(mayHoldTests), []);
  assert.equal(mayHoldTests("src/__tests__/a.ts"), true);
});

test("a script fails at its end, before an exit that is its last line, and says whether it may end before", () => {
  const plain = plantScript({ path: "check.py", text: "import a\nassert a.b() == 1\n" }, ids);
  assert.equal(plain?.mayEndEarly, false);
  const text = "import sys, a\nassert a.b() == 1\nsys.exit(0)\n";
  const last = [...(plantScript({ path: "check.py", text }, ids)?.added.values() ?? [])].join("");
  assert.ok(last.indexOf(ids.asserts) < last.indexOf("sys.exit(0)"));
  assert.equal(plantScript({ path: "check.sh", text: "node a.js || exit 1\necho fine\n" }, ids)?.mayEndEarly, true);
  assert.equal(plantScript({ path: "a.txt", text: "" }, ids), undefined);
});
