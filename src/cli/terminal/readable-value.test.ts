import assert from "node:assert/strict";
import { test } from "node:test";

import { readableLines } from "./readable-value.ts";

test("short arguments are one line, text keeps its lines, and nothing is escaped", () => {
  assert.deepEqual(readableLines({ path: "a.ts", limit: 3, deep: true }), ["path: a.ts, limit: 3, deep: true"]);
  assert.deepEqual(readableLines("one\ntwo\n"), ["one", "two"]);
  assert.deepEqual(readableLines({ path: "a", content: 'say("x");\nend\n' }), [
    "path: a",
    "content:",
    '  say("x");',
    "  end",
  ]);
  assert.deepEqual(readableLines([]), ["[]"]);
  assert.deepEqual(readableLines(null), ["null"]);
});

test("text that is JSON is shown as what it says", () => {
  const result = JSON.stringify({ exit_code: 0, stdout: "a\nb\n", files: [{ name: "x", lines: ["1", "2"] }] });
  assert.deepEqual(readableLines(result), [
    "exit_code: 0",
    "stdout:",
    "  a",
    "  b",
    "files:",
    "  -",
    "    name: x",
    "    lines: 1, 2",
  ]);
  assert.deepEqual(readableLines("{not json"), ["{not json"]);
});
