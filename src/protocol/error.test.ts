import assert from "node:assert/strict";
import { test } from "node:test";
import { errorTable, toTuttiError, TuttiError } from "./error.ts";
import { toFailure } from "./failure.ts";

test("an error has the retry verdict of its code, unless it is given another", () => {
  assert.equal(new TuttiError("busy", "try later").retry, "safe");
  assert.equal(new TuttiError("io", "the disk is gone").retry, "unknown");
  assert.equal(new TuttiError("busy", "try later", { retry: "never" }).retry, "never");
});

test("whatever is thrown becomes a TuttiError that keeps it as its cause", () => {
  const own = new TuttiError("not_found", "there is no task");
  assert.equal(toTuttiError(own), own);
  const foreign = new TypeError("x is not a function");
  const wrapped = toTuttiError(foreign);
  assert.deepEqual([wrapped.code, wrapped.message, wrapped.cause], ["internal", "x is not a function", foreign]);
  assert.deepEqual([toTuttiError("no").message, toTuttiError("no").cause], ["no", "no"]);
  assert.equal(toTuttiError(undefined).message, "undefined");
});

test("every code has an exit status that is not success and an HTTP status that is an error", () => {
  for (const [code, { exit, http }] of Object.entries(errorTable)) {
    assert.ok(exit > 0 && exit < 126, code);
    assert.ok(http >= 400 && http < 600, code);
  }
});

test("a failure has details only if the error has", () => {
  assert.deepEqual(toFailure(new TuttiError("usage", "no")), { code: "usage", message: "no", retry: "never" });
  assert.deepEqual(toFailure(new TuttiError("usage", "no", { details: { a: 1 } })).details, { a: 1 });
});

test("an error of another copy of Tutti is a TuttiError with its code, and no other error is", async () => {
  const copy: { readonly TuttiError: typeof TuttiError } = await import(`${import.meta.resolve("./error.ts")}?copy`);
  assert.notEqual(copy.TuttiError, TuttiError);
  const theirs = new copy.TuttiError("refused", "no");
  assert.ok(theirs instanceof TuttiError);
  assert.equal(toTuttiError(theirs).code, "refused");
  class Own extends TuttiError {}
  assert.equal(theirs instanceof Own, false);
  assert.ok(new Own("refused", "no") instanceof Own && new Own("refused", "no") instanceof TuttiError);
  assert.equal(Object.assign(new Error("x"), { code: "refused", name: "TuttiError" }) instanceof TuttiError, false);
});
