import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../test/support/properties.ts";
import { missingTests, readTestNames } from "./read-test-names.ts";
import { readTestOutput } from "./read-test-output.ts";

const outputs: readonly (readonly [runner: string, output: string])[] = [
  [
    "node:test",
    "✔ one (1.2ms)\n▶ suite\n  ✖ two (0.1ms)\n✖ suite (2ms)\nℹ pass 1\nℹ fail 1\n✖ failing tests:\n✖ two (0.1ms)",
  ],
  ["tap", "# Subtest: one\nok 1 - one\n  ---\n  ...\nnot ok 2 - two\n1..2"],
  ["mocha", "  ✔ one\n  1) two\n\n  1 passing (3ms)\n  1 failing\n\n  1) two:\n"],
  ["jest", "  ✓ one (1 ms)\n  ✕ two\n\n  ● two\n\nTests:       1 failed, 1 passed, 2 total"],
  [
    "vitest",
    " ❯ test/a.test.ts (2 tests | 1 failed) 4ms\n   ✓ one 1ms\n   × two 2ms\n      Tests  1 failed | 1 passed (2)",
  ],
  ["pytest -v", "a.py::one PASSED   [ 50%]\na.py::two FAILED   [100%]\n=== 1 failed, 1 passed in 0.1s ==="],
  ["pytest -rA", "FAILED a.py::two - assert 1 == 2\nPASSED a.py::one\n1 failed, 1 passed in 0.1s"],
  ["unittest", "one (a.A.one) ... ok\ntwo (a.A.two) ... FAIL\n\nRan 2 tests in 0.1s\n\nFAILED (failures=1)"],
  ["go test -v", "--- PASS: one (0.00s)\n--- FAIL: two (0.00s)\nFAIL\ta\t0.1s"],
  ["go test -json", '{"Action":"pass","Package":"a","Test":"one"}\n{"Action":"fail","Package":"a","Test":"two"}'],
  ["cargo test", "test one ... ok\ntest two ... FAILED\ntest result: FAILED. 1 passed; 1 failed; 0 ignored"],
];

test("the names of what passed and failed are read from the runners that print them", () => {
  for (const [runner, output] of outputs) {
    const names = readTestNames(output, readTestOutput(output) ?? null);
    assert.ok(names?.complete, runner);
    assert.ok(
      names.passed.some((name) => name.includes("one")),
      `${runner}: ${names.passed.join()}`,
    );
    assert.ok(
      names.failed.some((name) => name.includes("two")),
      `${runner}: ${names.failed.join()}`,
    );
  }
});

const names = (passed: string[], failed: string[] = [], complete = true) => ({ passed, failed, complete });

test("a test of the base that is gone, or that failed there and did not pass, is missing", () => {
  assert.deepEqual(missingTests(names(["a", "b"], ["c"]), names(["a", "c"])), ["b"]);
  assert.deepEqual(missingTests(names(["a"], ["c"]), names(["a"], ["c"])), ["c"]);
  assert.deepEqual(missingTests(names(["listens on 40123"]), names(["listens on 40999"])), []);
  assert.deepEqual(missingTests(names(["a"], [], false), names(["b"])), [], "not every name was printed");
  assert.deepEqual(missingTests(undefined, names(["b"])), []);
});

test("a file that cannot be loaded is no test, and names that were left out are not missing", () => {
  assert.equal(readTestNames("✖ test/a.test.js (50ms)\nℹ pass 0\nℹ fail 1", null), undefined);
  const cut = "✔ one (1ms)\n[… 500 bytes left out …]\nℹ pass 1\nℹ fail 0";
  assert.equal(readTestNames(cut, readTestOutput(cut) ?? null)?.complete, false);
});

test("property: names are bounded, whatever is printed", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary" })), (lines) => {
      const { passed = [], failed = [] } = readTestNames(lines.map((line) => `✔ ${line}`).join("\n"), null) ?? {};
      for (const name of [...passed, ...failed]) assert.ok(name.length <= 200);
    }),
  );
});
