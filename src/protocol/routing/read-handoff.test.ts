import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultPolicy } from "./default-policy.ts";
import type { Handoff } from "./handoff.ts";
import { readHandoff } from "./read-handoff.ts";
import { route } from "./route-handoff.ts";

const research = `task_id:
  value: "task-102"
from_model: "gpt-5.4"
to_model: "gpt-5.4-mini"
objective: "Find current API contract changes needed for feature X."
scope: "information_gathering"
constraints[3]: "no code edits", "cite source path", "stack: rust"
current_state: "prior_work: baseline-impl-v2"
artifact_refs[2]: "docs/api.md#120-210", "issues/412"
expected_output:
  alternatives: ["A", "B"]
  recommended_choice: "A"
  citations: ["docs/api.md#120-210"]
acceptance_criteria[3]: "produce >=2 options", "explain tradeoffs", "state confidence"
risks[1]: "none"
fallback_triggers[1]: "none"
conf: 0.88
assumptions_made[1]: "contracts are stable"
open_questions[1]: "none"
failed_checks[1]: "none"
`;

const implementer = `task_id:
  value: "task-102"
from_model: "gpt-5.4"
to_model: "gpt-5.3-codex-spark"
objective: "Implement the chosen API adjustment with tests."
scope: "code_change"
constraints[4]: "edit only listed files", "maintain existing behavior", "no_semver_break", "no code edits"
current_state: "decision_outcome: option_a_selected"
artifact_refs[3]: "research/task-102.toon", "src/current_api.ts", "tests/api.test.ts"
expected_output:
  code_diff_summary: "..."
  test_plan: ["/ path"]
  risk_notes: ["none"]
  self_check: "ok"
acceptance_criteria[3]: "tests added/updated", "no breaking change", "backwards behavior unchanged"
risks[1]: "none"
fallback_triggers[1]: "implementation validation required"
conf: 0.9
assumptions_made[1]: "prior research is current"
open_questions[1]: "none"
failed_checks[1]: "none"
`;

function handoffOf(input: unknown): Handoff {
  const read = readHandoff(input);
  assert.ok(read.ok, read.ok ? "" : read.error.message);
  return read.value;
}

function refusal(input: unknown): string {
  const read = readHandoff(input);
  assert.ok(!read.ok, JSON.stringify(read));
  return read.error.message;
}

test("the research envelope is read and goes where it asks", () => {
  const routed = route(defaultPolicy, handoffOf(research));
  assert.ok(routed.ok);
  assert.equal(routed.value.model, "gpt-5.4-mini");
});

test("the implementer envelope has all required fields and routes to the builder", () => {
  const routed = route(defaultPolicy, handoffOf(implementer));
  assert.ok(routed.ok);
  assert.equal(routed.value.model, "gpt-5.3-codex-spark");
});

test("the implementer envelope below the threshold goes to the router", () => {
  const routed = route(defaultPolicy, { ...handoffOf(implementer), conf: 0.6 });
  assert.ok(routed.ok);
  assert.equal(routed.value.model, "gpt-5.4");
});

test("the implementer envelope with security risks goes to the router", () => {
  const routed = route(defaultPolicy, { ...handoffOf(implementer), risks: ["privacy", "migration"] });
  assert.ok(routed.ok);
  assert.equal(routed.value.model, "gpt-5.4");
});

test("bracketed lists in TOON are read as lists, with a warning each", () => {
  const read = readHandoff(research);
  assert.ok(read.ok);
  assert.deepEqual(read.value.expected_output, {
    alternatives: ["A", "B"],
    recommended_choice: "A",
    citations: ["docs/api.md#120-210"],
  });
  assert.deepEqual(read.warnings, [
    "expected_output.alternatives is a text that holds a list and was read as the list",
    "expected_output.citations is a text that holds a list and was read as the list",
  ]);
});

test("a list written as a text is read as the list in JSON too, but free content of JSON stays as it is", () => {
  const handoff = handoffOf('{"risks": "[\\"none\\"]", "expected_output": "[1]"}');
  assert.deepEqual(handoff, { risks: ["none"], expected_output: "[1]" });
});

test("lists in TOON: declared, too short, empty and unquoted brackets", () => {
  const lists = (line: string): unknown => handoffOf(`scope: x\n${line}`).risks;
  assert.deepEqual(lists("risks[2]: A,B"), ["A", "B"]);
  assert.deepEqual(lists("risks[3]: a,b"), ["a", "b"]);
  assert.deepEqual(lists("risks: []"), []);
  assert.deepEqual(lists("risks[0]:"), []);
  assert.deepEqual(lists('risks: ["A","B"]'), ["A", "B"]);
  assert.match(refusal("scope: x\nrisks: [A, B]"), /risks must be a list, got the text "\[A, B\]"/);
  assert.match(refusal("scope: x\nrisks: none"), /risks must be a list/);
});

test("values with a colon or a bar need no quotes in TOON", () => {
  assert.equal(handoffOf("scope: a\nobjective: stack: rust").objective, "stack: rust");
  assert.equal(handoffOf("scope: a | b").scope, "a | b");
});

test("tabs and a first line that is indented are refused", () => {
  assert.match(refusal("context:\n\tstate: x"), /Line 2: tabs/);
  assert.match(refusal("context:\n\tstate: x\nrisks[3]: a"), /tabs/);
  assert.match(refusal("  scope: x\nconf: 1"), /Over-indented|indent/i);
});

test("blank lines and comments stand anywhere, within a list too", () => {
  assert.deepEqual(handoffOf("\nrisks[2]:\n  - a\n\n  # why\n  - b\n").risks, ["a", "b"]);
});

test("an id without quotes is read as text, with a warning", () => {
  const read = readHandoff("task_id: 102\nscope: x");
  assert.ok(read.ok);
  assert.equal(read.value.task_id, "102");
  assert.deepEqual(read.warnings, ["task_id is 102 without quotes and was read as text"]);
  assert.equal(handoffOf({ task_id: { value: 7 } }).task_id, "7");
});

test("an id too large to be a number is refused, not read as another id", () => {
  assert.match(refusal("task_id: 12345678901234567890\nscope: x"), /put it in quotes/);
});

test("a confidence in quotes is a number; one in words is refused", () => {
  assert.equal(handoffOf('conf: "0.9"\nscope: x').conf, 0.9);
  assert.match(refusal({ conf: "90%" }), /conf must be a number, got the text "90%"/);
  assert.match(refusal({ conf: [0.9] }), /conf must be a number, got a list/);
});

test("a flag in quotes is a flag; anything else is refused", () => {
  assert.deepEqual(handoffOf({ out: { "cite-sources": "true" } }).out, { cite_sources: true });
  assert.match(refusal({ out: { recommended: 1 } }), /out\.recommended must be true or false/);
});

test("null means absent", () => {
  assert.deepEqual(handoffOf({ conf: null, expected_output: null, context: null, risks: undefined }), {});
});

test("a missing confidence is not filled in", () => {
  assert.equal(handoffOf({ scope: "x" }).conf, undefined);
});

test("a field under two of its names is refused, whichever they are", () => {
  for (const twice of [
    { task_id: "a", id: "b" },
    { "to-model": "a", to_model: "a" },
    { src: "a", from: "b" },
    { conf: null, confidence: 1 },
  ]) {
    assert.match(refusal(twice), /is given twice/);
  }
  assert.match(refusal('{"conf": 0.2, "co\\u006ef": 0.9}'), /conf is given twice/);
});

test("a key given twice is refused at any depth, in JSON as in TOON", () => {
  assert.match(refusal('{"expected_output": {"a": {"b": {"c": 1, "c": 2}}}}'), /c is given twice/);
  assert.match(refusal("expected_output:\n  a:\n    b:\n      c: 1\n      c: 2"), /Duplicate sibling key "c"/);
});

test("fences around the whole document are taken away", () => {
  assert.equal(handoffOf('```json\n{"scope": "x"}\n```\n').scope, "x");
  assert.equal(handoffOf("```toon\nscope: x\nconf: 1\n```").scope, "x");
});

test("what is no envelope is refused by name", () => {
  assert.match(refusal(""), /handoff is empty/);
  assert.match(refusal("[1]"), /handoff must be fields with names, got a list/);
  assert.match(refusal("just prose"), /handoff must be fields with names, got the text "just prose"/);
  assert.match(refusal(undefined), /got nothing/);
  assert.match(refusal("{"), /not valid JSON/);
  assert.match(refusal({ objective: {} }), /objective must be text, got an object/);
  assert.match(refusal({ risks: [null] }), /risks\[0\] must be text, got nothing/);
  assert.match(refusal({ expected_output: { when: new Date(0) } }), /expected_output\.when must be plain data/);
});

test("messages stay on one short line, however long the text", () => {
  for (const input of [`objective: "${"x".repeat(9000)}`, `{"conf": "${"\n".repeat(9000)}"}`, "x".repeat(200_000)]) {
    const message = refusal(input);
    assert.ok(message.length < 400 && !message.includes("\n"), message);
  }
});

test("nesting, lines and keys have bounds, and each says so", () => {
  const deep = `${"[".repeat(101)}${"]".repeat(101)}`;
  assert.match(refusal(`{"expected_output": ${deep}}`), /nested deeper than 100 levels/);
  const many = Array.from({ length: 100_001 }, (_, key) => `"k${key}":1`);
  assert.match(refusal(`{"expected_output": {${many.join()}}}`), /more than 100000 keys/);
  assert.match(refusal('{"expected_output": [1e999]}'), /the number 1e999, which cannot be kept/);
  assert.match(refusal({ expected_output: JSON.parse(deep) }), /nested deeper than 64 levels/);
  assert.match(
    refusal(Array.from({ length: 70 }, (_, level) => `${"  ".repeat(level)}a:`).join("\n")),
    /deeper than 64/,
  );
  assert.match(refusal(`scope: ${"x".repeat(140_000)}\nconf: 1`), /longer than 131072/);
  assert.match(refusal("scope: x\n".repeat(100_001)), /more than 100000 lines/);
  assert.match(refusal(`a[1]${" ".repeat(5000)}:\n  - x`), /list header/);
  assert.match(refusal(`a[1]{${"b{".repeat(9)}c${"}".repeat(9)}}:\n  1`), /field groups/);
});

test("__proto__ in free content is left out, with a warning", () => {
  const read = readHandoff('{"expected_output": {"a": 1, "__proto__": {"polluted": true}}}');
  assert.ok(read.ok);
  assert.deepEqual(read.value.expected_output, { a: 1 });
  assert.deepEqual(read.warnings, ["expected_output.__proto__ is not a usable name and was ignored"]);
});
