import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../test/support/properties.ts";
import { judgeRun } from "./check-outcome.ts";
import { readTestOutput } from "./read-test-output.ts";

const samples: readonly (readonly [runner: string, output: string, passed: number, failed: number, skipped: number])[] =
  [
    [
      "node:test",
      "ok 1 - a\nnot ok 2 - b\n1..2\n# tests 9\n# pass 5\n# fail 2\n# cancelled 1\n# skipped 1\n# todo 0",
      5,
      3,
      1,
    ],
    ["node:test", "ℹ tests 2\nℹ pass 2\nℹ fail 0\nℹ skipped 0", 2, 0, 0],
    ["tap", "TAP version 14\nok 1 - a\nnot ok 2 - b\nok 3 - c # SKIP later\nnot ok 4 # TODO\n1..4", 1, 1, 2],
    ["jest", "Test Suites: 1 failed, 1 passed, 2 total\nTests:       1 failed, 2 skipped, 3 passed, 6 total", 3, 1, 2],
    ["jest", "Test Suites: 1 failed, 1 passed, 2 total\nTests:       3 passed, 3 total", 3, 1, 0],
    ["vitest", " Test Files  1 failed | 2 passed (3)\n      Tests  1 failed | 5 passed | 1 skipped (7)", 5, 1, 1],
    [
      "vitest",
      "\u001b[2m      Tests \u001b[22m \u001b[1m\u001b[32m2 passed\u001b[39m\u001b[22m\u001b[90m (2)\u001b[39m",
      2,
      0,
      0,
    ],
    ["mocha", "  5 passing (12ms)\n  2 pending\n  1 failing", 5, 1, 2],
    ["playwright", "  1 flaky\n  3 passed (2.1s)", 3, 1, 0],
    ["bun test", " 3 pass\n 1 skip\n 2 fail", 3, 2, 1],
    ["deno test", "ok | 3 passed (2 steps) | 0 failed | 1 ignored (5ms)", 3, 0, 1],
    ["pytest", "===== 2 failed, 3 passed, 1 skipped, 4 warnings, 1 error in 0.12s =====", 3, 3, 1],
    ["pytest", "3 passed in 0.01s", 3, 0, 0],
    ["unittest", "Ran 7 tests in 0.001s\n\nFAILED (failures=1, errors=2, skipped=1)", 3, 3, 1],
    [
      "cargo test",
      "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\ntest result: ok. 0 passed; 0 failed; 0 ignored",
      3,
      0,
      1,
    ],
    ["cargo nextest", "     Summary [   0.005s] 3 tests run: 2 passed, 1 failed, 4 skipped", 2, 1, 4],
    [
      "go test",
      "--- PASS: TestA (0.00s)\n    --- FAIL: TestA/x\n--- SKIP: TestB (0.00s)\nok  \texample.com/a\t0.1s",
      1,
      0,
      1,
    ],
    [
      "go test",
      '{"Action":"pass","Package":"a","Test":"TestA"}\n{"Action":"fail","Package":"a","Test":"TestB"}',
      1,
      1,
      0,
    ],
    ["go test", "ok  \ta\t0.1s\n?   \tb\t[no test files]\nFAIL\tc [build failed]", 1, 1, 0],
    ["rspec", "5 examples, 1 failure, 2 pending", 2, 1, 2],
    ["minitest", "5 runs, 7 assertions, 1 failures, 1 errors, 1 skips", 2, 2, 1],
    [
      "maven",
      "[INFO] Tests run: 1, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s - in A\n[ERROR] Tests run: 5, Failures: 1, Errors: 1, Skipped: 2",
      1,
      2,
      2,
    ],
    ["gradle", "5 tests completed, 1 failed, 1 skipped", 3, 1, 1],
    ["dotnet test", "Failed!  - Failed:     1, Passed:     3, Skipped:     2, Total:     6", 3, 1, 2],
    ["phpunit", "Tests: 5, Assertions: 7, Failures: 1, Skipped: 1.", 3, 1, 1],
    ["ctest", "80% tests passed, 1 tests failed out of 5", 4, 1, 0],
    ["junit", '<testsuites tests="4">\n  <testsuite name="a" tests="4" failures="1" errors="1" skipped="1">', 1, 2, 1],
  ];

test("the summaries of known test runners are read", () => {
  for (const [runner, output, passed, failed, skipped] of samples) {
    assert.deepEqual(readTestOutput(`noise\n${output}\r\nmore`), { runner, passed, failed, skipped }, output);
  }
  assert.equal(readTestOutput("all 12 tests passed, PR opened"), undefined);
});

const ended = (exit_code: number, stdout: string) =>
  judgeRun({ ran: true, exit_code, signal: null, timed_out: false, stdout, stderr: "", duration_ms: 1 });

test("failing tests do not pass: a summary with failures, or without any test, turns a pass into a failure", () => {
  assert.equal(ended(0, "===== 3 passed, 2 failed in 0.1s =====").outcome, "failed");
  assert.equal(ended(0, "# tests 0\n# pass 0\n# fail 0").outcome, "failed");
  assert.equal(ended(0, "No tests found, exiting with code 0").outcome, "failed");
  assert.equal(ended(0, "===== 2 failed in 0.1s =====\n===== 9 passed in 0.1s =====").outcome, "failed");
  assert.equal(ended(0, "3 passed in 0.1s").outcome, "passed");
  assert.equal(ended(0, "whatever").outcome, "passed");
});

const lines = fc.array(
  fc.oneof(fc.constantFrom(...samples.map(([, output]) => output)), fc.string({ unit: "binary" })),
);

test("property: no output makes a pass of a check that failed, and counts are never negative", () => {
  fc.assert(
    fc.property(lines, fc.integer({ min: 1, max: 255 }), (parts, code) => {
      const output = parts.join("\n");
      assert.notEqual(ended(code, output).outcome, "passed");
      const { passed, failed, skipped } = readTestOutput(output) ?? { passed: 0, failed: 0, skipped: 0 };
      for (const count of [passed, failed, skipped]) assert.ok(Number.isSafeInteger(count) && count >= 0);
    }),
  );
});

test("the time to read an output is linear in its length, whatever is in it", () => {
  const nasty = ["1 passed, ", "=", '{"Action":"pass"', " ", "<testsuite ", "Tests: 1 ", "\u001b[", "not ok 1 "];
  const timed = (length: number): number => {
    const began = performance.now();
    for (const part of nasty) readTestOutput(part.repeat(length / part.length));
    for (const part of nasty) readTestOutput(`${part.repeat(50)}\n`.repeat(length / part.length / 50));
    return performance.now() - began;
  };
  timed(100_000);
  const [small, large] = [timed(200_000), timed(2_000_000)];
  assert.ok(large < 100 * Math.max(small, 5), `${small} ms, then ${large} ms for ten times as much`);
});
