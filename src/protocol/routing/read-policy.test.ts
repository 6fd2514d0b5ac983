import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultPolicy, initialPolicy } from "./default-policy.ts";
import { encodePolicy } from "./encode-policy.ts";
import { Policy } from "./policy.ts";
import { readPolicy } from "./read-policy.ts";

const documented = `policy:
  router: "gpt-5.4"
  info: "gpt-5.4-mini"
  build: "gpt-5.3-codex-spark"
  escalate_to: "gpt-5.4"
  conf_threshold: 0.85
routing:
  decision_rules[4]: "architectural_decision => gpt-5.4", "debugging_or_testing => gpt-5.3-codex-spark", "docs_api_lookup_or_comparison => gpt-5.4-mini", "security_privacy_migration_incident => gpt-5.4"
gate:
  require_fields[15]: "task_id", "from_model", "to_model", "objective", "scope", "constraints", "current_state", "artifact_refs", "expected_output", "acceptance_criteria", "risks", "fallback_triggers", "conf", "assumptions_made", "open_questions", "failed_checks"
  fail_if_conf_less: 0.85
  if_conflict_or_missing: "reroute_to_router"
  if_test_failure: "reroute_to_builder_once_then_router"
`;

function policyOf(input: unknown): Policy {
  const read = readPolicy(input);
  assert.ok(read.ok, read.ok ? "" : read.error.message);
  return read.value;
}

function refusal(input: unknown): string {
  const read = readPolicy(input);
  assert.ok(!read.ok);
  assert.equal(read.error.code, "invalid_input");
  return read.error.message;
}

test("a declared length of 15 over 16 fields is read as 16, with a warning", () => {
  const read = readPolicy(documented);
  assert.ok(read.ok);
  assert.deepEqual(read.value.gate, defaultPolicy.gate);
  assert.equal(read.value.routing.decision_rules.length, 4);
  assert.deepEqual(read.warnings, ["require_fields: declared 15, found 16"]);
});

test("the right declared length needs no warning", () => {
  const read = readPolicy(documented.replace("[15]", "[16]"));
  assert.deepEqual(read.warnings, []);
});

test("what a policy leaves out is as in the default policy, field by field", () => {
  assert.deepEqual(policyOf({}), defaultPolicy);
  const policy = policyOf({ policy: { builder: "b" }, gate: { "fail-if-conf-less": 0.5 } });
  assert.deepEqual(policy.policy, { ...defaultPolicy.policy, build: "b" });
  assert.deepEqual(policy.gate, { ...defaultPolicy.gate, fail_if_conf_less: 0.5 });
});

test("a list that is given empty stays empty", () => {
  assert.deepEqual(policyOf("gate:\n  require_fields: []\n").gate.require_fields, []);
});

test("reading does not hand out the default policy itself", () => {
  policyOf({}).gate.require_fields.push("x");
  assert.equal(defaultPolicy.gate.require_fields.length, 16);
});

test("an unknown if_ value is refused at load", () => {
  assert.match(
    refusal({ gate: { if_test_failure: "shrug" } }),
    /gate\.if_test_failure must be one of .*, got the text "shrug"/,
  );
  assert.match(refusal({ gate: { if_conflict_or_missing: "" } }), /gate\.if_conflict_or_missing/);
});

test("a value outside its choices is refused", () => {
  assert.match(refusal({ review: "sometimes" }), /review must be one of always, risk, never/);
  assert.match(refusal({ words: true }), /words must be one of substring, boundary, got true/);
});

test("one field on one line is a policy; several on one line are not", () => {
  assert.equal(policyOf("review: always").review, "always");
  const folded = documented.replaceAll(/\s*\n\s*/g, " ").trim();
  assert.match(refusal(folded), /one line/);
  assert.match(refusal('policy: router: "gpt-5.4"'), /one line/);
});

test("a section folded onto one line of several is refused", () => {
  assert.match(
    refusal('policy: router: "a" info: "b"\nreview: always'),
    /policy must be fields with names, got the text/,
  );
});

test("a section given under two names, or a field under an alias and its own name, is refused", () => {
  assert.match(refusal({ policy: { info: "a", research: "b" } }), /policy\.info is given twice/);
  assert.match(refusal({ gate: { require_fields: [], "require-fields": [] } }), /given twice/);
  assert.match(refusal('{"review":"never","review":"always"}'), /review is given twice/);
  assert.match(refusal("review: never\nreview: always"), /Duplicate sibling key "review"/);
});

test("a key given twice is refused also where a declared length is wrong", () => {
  assert.match(refusal("gate:\n  require_fields[3]: a,b\nreview: never\nreview: always"), /review is given twice/);
});

test("an unknown field is ignored with a warning", () => {
  const read = readPolicy({ colour: 1, gate: { colour: 2 } });
  assert.ok(read.ok);
  assert.deepEqual(read.warnings, [
    "colour is not a known field and was ignored",
    "gate.colour is not a known field and was ignored",
  ]);
});

test("a thousand unknown fields make fifty warnings and a count", () => {
  const read = readPolicy(Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`x${index}`, 1])));
  assert.equal(read.warnings.length, 51);
  assert.equal(read.warnings.at(-1), "and 950 more warnings");
});

test("a number in quotes is read as the number, with a warning", () => {
  const read = readPolicy('policy:\n  conf_threshold: "0.7"\nreview: risk');
  assert.ok(read.ok);
  assert.equal(read.value.policy.conf_threshold, 0.7);
  assert.match(read.warnings.join(), /conf_threshold is the text "0\.7"/);
  assert.match(refusal({ policy: { conf_threshold: "high" } }), /must be a number, got the text "high"/);
  assert.match(refusal({ policy: { conf_threshold: Number.NaN } }), /must be a number/);
});

test("a role must name a model, after its runner too", () => {
  assert.match(refusal({ policy: { router: " " } }), /policy\.router must name a model/);
  assert.match(refusal({ policy: { build: "operator:" } }), /policy\.build must name a model after "operator:"/);
  assert.match(refusal({ policy: { build: "acp:" } }), /policy\.build must name a coding agent as acp:PROFILE/);
  assert.equal(policyOf({ policy: { build: "acp:codex", info: "llama3:8b" } }).policy.build, "acp:codex");
});

test("what a policy does in silence is warned of", () => {
  const { warnings } = readPolicy({
    policy: { conf_threshold: 1.5 },
    routing: { decision_rules: ["billing", "a => b"] },
    gate: { require_fields: ["task-id"], fail_if_conf_less: -1 },
  });
  assert.deepEqual(warnings, [
    'gate.require_fields: "task-id" is not a field, so it requires nothing',
    'routing.decision_rules[0] is not "words => model" and is skipped: billing',
    "policy.conf_threshold is 1.5: above 1, every handoff goes to gpt-5.4",
    "gate.fail_if_conf_less is -1: below 0, it holds nothing back",
  ]);
});

test("a new project starts with whole words, written as TOON it reads back", () => {
  const { policy, ...rest } = initialPolicy("openai/gpt-6-sol");
  assert.deepEqual(rest, {
    routing: { decision_rules: [] },
    gate: defaultPolicy.gate,
    review: "risk",
    words: "boundary",
  });
  const { conf_threshold: _, ...roles } = policy;
  assert.deepEqual(new Set(Object.values(roles)), new Set(["openai/gpt-6-sol"]));
  assert.equal(initialPolicy().policy.build, "rehearsal/script", "a model that can always run");
  const text = encodePolicy(initialPolicy());
  assert.match(text, /require_fields\[16\]: task_id,from_model,/);
  assert.deepEqual(readPolicy(text), { ok: true, value: initialPolicy(), warnings: [] });
});

test("a role may list the models to try when its own fails, and each of them must be a model", () => {
  const text = `policy:
  router: "r"
  build: "b"
fallbacks:
  router[2]: "x/one","y/two"
  builder: []
`;
  const policy = policyOf(text);
  assert.deepEqual(policy.fallbacks, { router: ["x/one", "y/two"], build: [] });
  assert.deepEqual(policyOf(encodePolicy(policy)), policy);
  assert.deepEqual(Policy.parse(policy), policy);
  assert.match(refusal({ fallbacks: { info: ["a", " "] } }), /fallbacks\.info\[1\] must name a model/);
  assert.match(
    refusal({ fallbacks: { info: ["acp:codex"] } }),
    /fallbacks\.info\[0\] must name a model without a runner/,
  );
  assert.match(refusal({ fallbacks: { info: "a" } }), /fallbacks\.info must be a list, got the text "a"/);
  assert.match(refusal({ fallbacks: { build: [], builder: [] } }), /fallbacks\.build is given twice/);
  const many = Array.from({ length: 17 }, (_, index) => `m${index}`);
  assert.match(refusal({ fallbacks: { build: many } }), /fallbacks\.build lists 17 models; 16 are allowed/);
  assert.match(refusal(text.replace("  builder: []", "\tbuilder: []")), /Line 6/);
});

test("a list of fallbacks that repeats a model or has no effect is warned of", () => {
  const { warnings } = readPolicy({
    policy: { info: "i", build: "acp:codex" },
    fallbacks: { info: ["a", "i", "a"], build: ["b"], colour: [] },
  });
  assert.deepEqual(warnings, [
    "fallbacks.colour is not a known field and was ignored",
    'fallbacks.info[1] is "i" again, which is tried only once',
    'fallbacks.info[2] is "a" again, which is tried only once',
    'fallbacks.build has no effect: acp:codex is run by "acp", which chooses its model itself',
  ]);
});
