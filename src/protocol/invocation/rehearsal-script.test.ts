import assert from "node:assert/strict";
import { test } from "node:test";
import { describeIssues, issuesOf } from "../lenient-read.ts";
import { RehearsalScript } from "./rehearsal-script.ts";

function fault(rule: unknown): string {
  const parsed = RehearsalScript.safeParse({ rules: [rule] });
  return parsed.success ? "none" : describeIssues(issuesOf(parsed.error));
}

test("a rule must do something", () => {
  assert.match(fault({ agent: "a" }), /^rules\[0\]: does nothing: give it one of say, raw, call/);
  assert.equal(fault({ say: "" }), "none");
  assert.equal(fault({ final: null }), "none");
});

test("a reply that fails, or that is raw, has nothing beside it", () => {
  assert.match(fault({ fail: { code: "io" }, say: "x" }), /^rules\[0\]\.fail: a reply that fails can do nothing else/);
  assert.match(fault({ raw: "x", call: [{ tool: "t" }] }), /^rules\[0\]\.raw: a raw reply is the whole reply/);
});

test("placeholders are last, user and 0 to 9, in any text but a raw one", () => {
  assert.equal(fault({ say: "{{last}} {{user}} {{0}} {{9}}" }), "none");
  assert.match(fault({ say: "{{lst}}" }), /\{\{lst\}\} is not a placeholder/);
  assert.match(fault({ call: [{ tool: "t", args: { deep: ["{{10}}"] } }] }), /\{\{10\}\} is not a placeholder/);
  assert.equal(fault({ raw: "{{anything}}" }), "none");
});

test("a pattern must be a regular expression, and a failure one of Tutti's codes", () => {
  assert.match(fault({ last: { regex: "(" }, say: "x" }), /rules\[0\]\.last/);
  assert.equal(fault({ last: { regex: "^a.b$" }, say: "x" }), "none");
  assert.match(fault({ fail: { code: "toString" } }), /is not an error code of Tutti/);
});
