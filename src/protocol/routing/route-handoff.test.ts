import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/properties.ts";
import { defaultPolicy } from "./default-policy.ts";
import type { Handoff } from "./handoff.ts";
import type { Policy } from "./policy.ts";
import { effectiveThreshold, isEscalation, route, type RouteDecision } from "./route-handoff.ts";

const handoff: Handoff = {
  task_id: "t-1",
  from_model: "manager",
  to_model: "somewhere",
  objective: "ship it",
  scope: "misc",
  constraints: ["none"],
  current_state: "s",
  artifact_refs: ["src/a.ts"],
  expected_output: {},
  acceptance_criteria: ["green"],
  risks: ["none"],
  fallback_triggers: ["none"],
  conf: 0.9,
  assumptions_made: ["none"],
  open_questions: ["none"],
  failed_checks: ["none"],
};
const wholeWords: Policy = { ...defaultPolicy, words: "boundary" };
const roles = { router: "R", info: "I", build: "B", escalate_to: "E", conf_threshold: 0.85 };

function decided(changes: Handoff, policy: Policy = defaultPolicy): RouteDecision {
  const routed = route(policy, { ...handoff, ...changes });
  assert.ok(routed.ok, routed.ok ? "" : routed.error.message);
  return routed.value;
}

function why(changes: Handoff, policy: Policy = defaultPolicy): [string, readonly string[]] {
  const { matched_by, words } = decided(changes, policy);
  return [matched_by, words];
}

test("every decision says what it was matched by, and by which words", () => {
  assert.deepEqual(why({ conf: 0.1 }), ["conf", []]);
  assert.deepEqual(why({ risks: ["Privacy of users", "DATA LOSS"] }), ["risk", ["privacy", "data loss"]]);
  assert.deepEqual(why({ artifact_refs: ["docs/x", "Security.md"] }), ["risk", ["security"]]);
  assert.deepEqual(why({ failed_checks: ["ok", "a conflict: mismatch"] }), ["contradiction", ["conflict", "mismatch"]]);
  assert.deepEqual(why({ fallback_triggers: ["if unclear"] }), ["ambiguity", ["unclear"]]);
  assert.deepEqual(why({ to_model: "gpt-5.4", scope: "code_change" }), ["destination", ["code", "code_change"]]);
  assert.deepEqual(why({ objective: "Read the docs" }), ["scope", ["docs"]]);
  assert.deepEqual(why({}), ["default", []]);
  const rules = { ...defaultPolicy, routing: { decision_rules: ["bad", "Ship => X"] } };
  assert.deepEqual(why({}, rules), ["rule:1", ["ship"]]);
});

test("where whole words match, the reason is that of the role, also when one model has every role", () => {
  const one = { router: "M", info: "M", build: "M", escalate_to: "M", conf_threshold: 0.85 };
  const reasonOf = (changes: Handoff): string => decided(changes, { ...wholeWords, policy: one }).reason;
  assert.equal(reasonOf({ scope: "code_change" }), "matched implementation/debugging scope");
  assert.equal(reasonOf({ scope: "information_gathering" }), "matched information-gathering scope");
  assert.equal(reasonOf({ scope: "triage" }), "matched architectural/decision scope");
  assert.equal(reasonOf({ scope: "billing", objective: "ship" }), "no word and no rule matched");
});

test("security outranks contradiction, and contradiction outranks ambiguity", () => {
  assert.equal(why({ risks: ["security"], failed_checks: ["conflict"], scope: "unclear" })[0], "risk");
  assert.equal(why({ failed_checks: ["conflict"], scope: "unclear" })[0], "contradiction");
});

test("an escalation goes to escalate_to, not to the router", () => {
  const policy = { ...defaultPolicy, policy: roles };
  assert.equal(decided({ scope: "production" }, policy).model, "E");
  assert.equal(decided({ scope: "triage" }, policy).model, "R");
  assert.deepEqual(
    ["conf", "risk", "contradiction", "ambiguity", "scope", "default"].map((matched_by) =>
      isEscalation({ matched_by } as RouteDecision),
    ),
    [true, true, true, true, false, false],
  );
});

test("a handoff that cannot be routed gets the problem as a value, with the fields it is about", () => {
  assert.deepEqual(route(defaultPolicy, { ...handoff, conf: undefined, scope: " \u0085" }), {
    ok: false,
    error: {
      kind: "missing_fields",
      message: "missing required handoff fields: conf, scope",
      fields: ["conf", "scope"],
    },
  });
  const free = { ...defaultPolicy, gate: { ...defaultPolicy.gate, require_fields: [] } };
  const contract = route(free, { ...handoff, open_questions: [] });
  assert.ok(!contract.ok);
  assert.deepEqual([contract.error.kind, contract.error.fields], ["contract", ["open_questions"]]);
});

test("a byte order mark is not white space, so a field of one is not blank", () => {
  assert.equal(route(defaultPolicy, { ...handoff, task_id: "\ufeff" }).ok, true);
});

test("a confidence out of range is named without an exponent", () => {
  const got = (conf: number): string => {
    const routed = route(defaultPolicy, { ...handoff, conf });
    assert.ok(!routed.ok);
    return routed.error.message.replace("confidence value must be normalized in 0.0..1.0, got ", "");
  };
  assert.deepEqual([1.5, 2, -0.1, 1.5e21, -2.5e-7, 1e300].map(got), [
    "1.5",
    "2",
    "-0.1",
    "1500000000000000000000",
    "-0.00000025",
    `1${"0".repeat(300)}`,
  ]);
  assert.deepEqual([Number.NaN, Infinity, -Infinity].map(got), ["NaN", "inf", "-inf"]);
});

test("a handoff raises the threshold and never lowers it", () => {
  assert.equal(effectiveThreshold(defaultPolicy, { confidence_threshold: 0.95 }), 0.95);
  assert.equal(effectiveThreshold(defaultPolicy, { confidence_threshold: 0.1 }), 0.85);
});

test("letters are folded in ASCII alone", () => {
  assert.equal(why({ scope: "TE\u017fT" })[0], "default");
  const rules = { ...defaultPolicy, routing: { decision_rules: ["É => X"] } };
  assert.equal(why({ scope: "é" }, rules)[0], "default");
  assert.equal(why({ scope: "zÉ" }, rules)[0], "rule:0");
});

test("substrings count by default: latest holds test, and two fields can hold a phrase between them", () => {
  assert.deepEqual(why({ objective: "the latest" }), ["scope", ["test"]]);
  assert.deepEqual(why({ scope: "big data", objective: "loss function" }), ["risk", ["data loss"]]);
});

test("whole words do not count inside other words", () => {
  for (const objective of ["the latest contest", "rapid capital", "decode", "rebuild", "immigration", "reproduction"]) {
    assert.deepEqual(why({ objective }, wholeWords), ["default", []], objective);
  }
});

test("whole words end at underscores and hyphens, and plurals count", () => {
  assert.deepEqual(why({ scope: "security_review" }, wholeWords), ["risk", ["security"]]);
  assert.deepEqual(why({ risks: ["two migrations"] }, wholeWords), ["risk", ["migration"]]);
  assert.deepEqual(why({ failed_checks: ["3 mismatches"] }, wholeWords), ["contradiction", ["mismatch"]]);
  assert.deepEqual(why({ scope: "re-test" }, wholeWords), ["scope", ["test"]]);
  assert.deepEqual(why({ scope: "information gathering" }, wholeWords), [
    "scope",
    ["information", "information_gathering"],
  ]);
  assert.equal(why({ scope: "étest" }, wholeWords)[0], "default");
});

test("phrases as whole words are joined by space, hyphen or underscore, never across fields", () => {
  for (const risk of ["data loss", "data-loss", "data_loss", "Data  losses"]) {
    assert.equal(why({ risks: [risk] }, wholeWords)[0], "risk", risk);
  }
  assert.equal(why({ scope: "big data", objective: "loss function" }, wholeWords)[0], "default");
  assert.equal(why({ risks: ["data", "loss"] }, wholeWords)[0], "default");
  assert.equal(why({ risks: ["metadata loss"] }, wholeWords)[0], "default");
});

test("rules match whole words, without plurals, with their left side trimmed", () => {
  const policy = {
    ...wholeWords,
    routing: { decision_rules: ["b => A", "billing -> pay => fin", "infra/ => ops", "c++ => cc"] },
  };
  assert.equal(why({ scope: "bs" }, policy)[0], "default");
  assert.equal(why({ scope: "billing" }, policy)[0], "rule:1");
  assert.equal(why({ artifact_refs: ["infra/x"] }, policy)[0], "rule:2");
  assert.equal(why({ constraints: ["in C++"] }, policy)[0], "rule:3");
});

test("an arrow without words before it matches no scope", () => {
  for (const base of [defaultPolicy, wholeWords]) {
    const policy = { ...base, routing: { decision_rules: ["-> pay => fin"] } };
    assert.equal(why({ scope: "misc" }, policy)[0], "default");
    assert.equal(why({ objective: "do -> pay" }, policy)[0], "rule:0");
  }
});

test("a destination is honoured as written, and trimmed where words are whole", () => {
  assert.equal(decided({ to_model: " gpt-5.4\n", scope: "docs" }).model, " gpt-5.4\n");
  assert.equal(decided({ to_model: " gpt-5.4\n", scope: "docs" }, wholeWords).model, "gpt-5.4");
});

test("whatever whole words find, substrings find too, except joined phrases", () => {
  const piece = fc.constantFrom("test", "s", "es", "api", "code", "security", "_", "-", " ", "é", "X", "data", "loss");
  const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(text, text, (scope, objective) => {
      fc.pre(!/data[ _-]+loss/.test(`${scope} ${objective}`));
      const given = { scope: `x ${scope}`, objective: `x ${objective}` };
      const [whole, anywhere] = [decided(given, wholeWords), decided(given)];
      if (whole.matched_by === "default") return;
      assert.notEqual(anywhere.matched_by, "default");
      if (whole.matched_by === "risk") assert.equal(anywhere.matched_by, "risk");
    }),
    { numRuns: 500 },
  );
});

test("a decision names the models that the policy lists for its role, and none if the policy lists none", () => {
  const fallbacks = { escalate_to: ["E2"], router: ["R2", "R3"], build: ["B2", "B"], info: [] };
  const policy: Policy = { ...defaultPolicy, policy: { ...roles, escalate_to: "R" }, fallbacks };
  const next = (changes: Handoff, by: Policy = policy) => decided(changes, by).fallback_models;
  assert.deepEqual(next({ conf: 0.1 }), ["E2"], "an escalation, though the router has the same model");
  assert.deepEqual(next({}), ["R2", "R3"], "the default");
  assert.deepEqual(next({ scope: "refactor" }), ["B2"]);
  assert.deepEqual(next({ scope: "refactor", to_model: " I " }), [], "a destination, as it is written");
  const byRule = { ...policy, routing: { decision_rules: ["misc => other/model"] } };
  assert.equal(next({}, byRule), undefined, "the model of a rule that has no role");
  assert.ok(!("fallback_models" in decided({})));
});
