import assert from "node:assert/strict";
import { test } from "node:test";

import { captureOutput } from "../../../test/support/captured-output.ts";
import { errorTable, TuttiError } from "../../protocol/error.ts";
import { fail, indent, warn } from "./output.ts";
import { paint } from "./style.ts";

test("an error is one line on standard error, or JSON, and sets the exit status of its code", (t) => {
  t.after(() => (process.exitCode = undefined));
  const captured = captureOutput(t);
  const error = new TuttiError("not_found", "there is no task\ntsk_1");
  fail(error, false);
  assert.equal(captured.err, "tutti: there is no task tsk_1\n");
  assert.equal(process.exitCode, errorTable.not_found.exit);
  captured.err = "";
  fail(error, true);
  assert.deepEqual(JSON.parse(captured.err), {
    error: { code: "not_found", message: "there is no task\ntsk_1", retry: "never" },
  });
  assert.equal(captured.out, "");
});

test("only an internal error shows its stack trace", (t) => {
  t.after(() => (process.exitCode = undefined));
  const captured = captureOutput(t);
  fail(new TuttiError("io", "no disk", { cause: new Error("EIO") }), false);
  assert.doesNotMatch(captured.err, /EIO/);
  fail(new TuttiError("internal", "a bug", { cause: new Error("of ours") }), false);
  assert.match(captured.err, /of ours\n {4}at /);
});

test("there are no colours when the output is not a terminal", (t) => {
  const captured = captureOutput(t);
  warn("careful");
  assert.equal(captured.err, "warning: careful\n");
  assert.equal(paint("red", "x"), "x");
});

test("every line is indented", () => {
  assert.equal(indent("a\nb"), "  a\n  b");
});
