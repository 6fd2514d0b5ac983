import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../test/support/properties.ts";
import type { CheckFact, EvidenceFact } from "../protocol/task/evidence.ts";
import { type EvidenceCase, judgeEvidence } from "./judge-evidence.ts";

const check = (more: Partial<CheckFact> = {}): CheckFact => ({
  kind: "check",
  argv: ["npm", "test"],
  cwd: ".",
  named_by: "person",
  outcome: "passed",
  exit_code: 0,
  duration_ms: 1,
  output_tail: "",
  tests: null,
  on_base: "failed",
  base_tests: null,
  changed_check_files: [],
  with_base_files: null,
  reason: "It ended.",
  ...more,
});

const review = (more: Partial<Extract<EvidenceFact, { kind: "review" }>> = {}): EvidenceFact => ({
  kind: "review",
  reviewer: "tsk_r",
  gate: "approve",
  model: "m",
  same_model: false,
  conf: 0.9,
  findings: [],
  grounded: true,
  ...more,
});

const person: EvidenceFact = { kind: "person", by: "Ada", text: "fine" };

type JudgedEvidence = EvidenceCase["evidence"][number];

function item(fact: EvidenceFact, more: Partial<JudgedEvidence> = {}): JudgedEvidence {
  return { id: "evd_1", fact, criteria: [], verdict: "supports", commit: "c1", tree: "t1", observed_at: 1, ...more };
}

const judged = (evidence: readonly JudgedEvidence[], more: Partial<EvidenceCase> = {}) =>
  judgeEvidence({ evidence, criteria: [], commit: "c1", tree: "t1", ...more });
const verdict = (...facts: readonly EvidenceFact[]) => judged(facts.map((fact) => item(fact))).verdict;

const counts = (passed: number, failed: number, skipped = 0) => ({ runner: "jest", passed, failed, skipped });

test("a check that failed before and passes now verifies; one that passed before shows only that it still holds", () => {
  assert.equal(verdict(check()), "verified");
  assert.equal(verdict(check({ on_base: "passed" })), "unverified");
  assert.match(judged([item(check({ on_base: "passed" }))]).reason, /still holds/);
});

test("nothing verifies where there is no check, no review and no person's word", () => {
  const git: EvidenceFact = { kind: "git", base: "b", head: "h", clean: true, changed: ["a"] };
  const pr: EvidenceFact = { kind: "pr", url: "https://example.com/1", exists: true, state: "OPEN", head: "c1" };
  const file: EvidenceFact = { kind: "file", path: "a", sha256: "0".repeat(64), size: 1 };
  assert.equal(verdict(), "unverified");
  assert.equal(verdict(git, pr, file), "unverified");
  const criteria = [{ id: "k", text: "the file a exists" }];
  const found = judged([item(file, { criteria: ["k"] })], { criteria });
  assert.deepEqual([found.verdict, found.criteria[0]?.state], ["unverified", "met"]);
});

test("invariant 12: one failure outweighs any success, and only a person who saw it can accept the work", () => {
  const failed = check({ outcome: "failed", on_base: "passed" });
  assert.equal(verdict(check(), failed, review()), "failed");
  assert.equal(judged([item(failed), item(person)]).verdict, "verified");
  assert.match(judged([item(failed), item(person)]).reason, /Ada accepted the work\. Despite: `npm test` failed/);
  assert.equal(judged([item(person), item(failed, { observed_at: 2 })]).verdict, "failed");
  assert.equal(judged([item(check()), item(person, { verdict: "contradicts" })]).verdict, "failed");
});

test("a failure that was there before is said, and held against a task only if it is its criterion or got worse", () => {
  const old = check({ outcome: "failed", on_base: "failed", tests: counts(3, 2), base_tests: counts(3, 2) });
  const both = judged([item(check({ argv: ["make"] })), item(old)]);
  assert.deepEqual(
    [both.verdict, both.notes],
    ["verified", ["`npm test` failed before the work began, and still does."]],
  );
  assert.equal(
    judged([item(old, { criteria: ["k"] })], { criteria: [{ id: "k", text: "tests pass" }] }).verdict,
    "failed",
  );
  assert.equal(verdict(check({ argv: ["make"] }), { ...old, tests: counts(2, 3) }), "failed");
});

test("lines that could speak for a check go to a review, which may settle them", () => {
  const suspect = [{ path: "src/total.js", line: 3, text: "process.exit(0)", why: "ends the process" }];
  for (const fact of [check({ suspect })]) {
    assert.equal(verdict(check({ argv: ["make"] }), fact), "review", JSON.stringify(fact));
    assert.equal(verdict(check({ argv: ["make"] }), fact, review()), "verified");
    assert.equal(verdict(check({ argv: ["make"] }), fact, review({ same_model: true })), "review");
  }
});

test("invariant 12: what Tutti observed is lifted by no approval of a model, only by a person", () => {
  const nothingChanged: EvidenceFact = { kind: "git", base: "b", head: "b", clean: true, changed: [] };
  for (const fact of [
    check({ changed_check_files: ["a.test.js"], with_base_files: "failed" }),
    check({ canary: "spoken_for" }),
    check({ outcome: "flaky" }),
    check({ tests: counts(1, 0), base_tests: counts(5, 1) }),
    check({ tests: counts(1, 0, 5), base_tests: counts(5, 1) }),
    check({ tests: null, base_tests: counts(5, 1) }),
    check({ tests: counts(6, 0), base_tests: counts(5, 1), missing_tests: ["adds"] }),
    nothingChanged,
  ]) {
    const about = JSON.stringify(fact);
    assert.equal(verdict(check({ argv: ["make"] }), fact), "review", about);
    assert.equal(verdict(check({ argv: ["make"] }), fact, review()), "review", about);
    assert.equal(verdict(check({ argv: ["make"] }), fact, review(), person), "verified", about);
  }
});

test("a check proves nothing that a model alone named, or that passes without the work", () => {
  for (const fact of [check({ named_by: "model" }), check({ without_work: "passed" })]) {
    assert.equal(verdict(fact), "unverified", JSON.stringify(fact));
    assert.equal(verdict(fact, review()), "verified");
    assert.notEqual(judged([item(fact)]).reason, "");
  }
});

test("a review by the author's own model, a nod, an unsure one and an escalation approve nothing; a revision fails", () => {
  assert.equal(verdict(review()), "verified");
  assert.equal(verdict(review({ grounded: false })), "review");
  assert.equal(verdict(review({ same_model: true })), "review");
  assert.equal(judged([item(review({ conf: 0.5 }))], { minConfidence: 0.85 }).verdict, "review");
  assert.equal(verdict(review({ gate: "escalate" })), "review");
  assert.equal(verdict(review({ gate: "revise" })), "failed");
});

test("evidence about another commit proves nothing: a branch that moved is unverified", () => {
  assert.equal(judged([item(check())], { commit: "c2" }).verdict, "unverified");
  assert.equal(judged([item(check(), { commit: null, tree: null })]).verdict, "unverified");
});

test("a criterion that is a check is met by that check alone, also when it only still holds", () => {
  const criteria = [
    { id: "a", text: "`npm test` passes" },
    { id: "b", text: "the total is right" },
    { id: "c", text: "the totals add up", by: "npm test" },
    { id: "d", text: "npm test succeeds." },
    { id: "e", text: "`npm test` passes and the page is blue" },
    { id: "f", text: "`npm run test` passes" },
    { id: "g", text: "`npm test && node strict.js` succeeds" },
  ];
  const states = (...evidence: readonly JudgedEvidence[]) =>
    judged(evidence, { criteria }).criteria.map((one) => one.state);
  const holds = item(check({ on_base: "passed" }));
  assert.deepEqual(states(holds), ["met", "open", "met", "met", "open", "open", "open"]);
  const points = criteria.map(({ id }) => ({ id, met: true, why: "it does", where: "a.js" }));
  assert.deepEqual(states(holds, item(review({ points }))), ["met", "met", "met", "met", "met", "open", "open"]);
  const broken = item(check({ outcome: "failed", on_base: "failed" }));
  assert.deepEqual(states(broken, item(review({ points }))), ["unmet", "met", "unmet", "unmet", "met", "open", "open"]);
  const doubtful = item(check({ changed_check_files: ["a.test.js"], with_base_files: "failed" }));
  assert.deepEqual(states(doubtful, item(review({ points }))), ["open", "met", "open", "open", "met", "open", "open"]);
  // A yes to the work is one to its words, and to a pass that the person was shown. Of a check that failed or was not run, it says nothing.
  const accepted = item(person, { observed_at: 2 });
  assert.deepEqual(states(doubtful, accepted), ["met", "met", "met", "met", "met", "open", "open"]);
  assert.deepEqual(states(broken, accepted), ["open", "met", "open", "open", "met", "open", "open"]);
  assert.deepEqual(states(item(person, { criteria: ["a", "g"] })), [
    "met",
    "open",
    "open",
    "open",
    "open",
    "open",
    "met",
  ]);
});

test("words that a criterion shares with a check, or with a longer one, bind nothing", () => {
  for (const [argv, text] of [
    [["ls"], "calls retry three times"],
    [["true"], "isValid returns true for an empty list"],
    [["make", "check"], "`make check` prints no warning"],
    [["node", "--test"], "`node --test test/total.test.js` succeeds"],
  ] as const) {
    const fact = check({ argv: [...argv], on_base: "passed" });
    assert.equal(judged([item(fact)], { criteria: [{ id: "a", text }] }).criteria[0]?.state, "open", text);
    const failed = check({ argv: [...argv], on_base: "failed", outcome: "failed" });
    assert.equal(judged([item(failed)], { criteria: [{ id: "a", text }] }).criteria[0]?.state, "open", text);
  }
  const quoted = check({ argv: ["grep", "-q", "## Install", "README.md"] });
  const text = "`grep -q '## Install' README.md` succeeds";
  assert.equal(judged([item(quoted)], { criteria: [{ id: "a", text }] }).criteria[0]?.state, "met");
});

test("a criterion in words is met by the review that judges it, with its reason, and by nothing else", () => {
  const criteria = [{ id: "b", text: "the total is right" }];
  const point = { id: "b", met: true, why: "adds instead of subtracting", where: "total.js" };
  const found = judged([item(check()), item(review({ points: [point] }))], { criteria }).criteria[0];
  assert.equal(found?.state, "met");
  assert.match(found?.reason ?? "", /adds instead of subtracting \(total\.js\)/);
  assert.deepEqual(found?.files, ["total.js"]);
  assert.equal(judged([item(check()), item(review())], { criteria }).criteria[0]?.state, "open");
  const denied = judged([item(review({ points: [{ ...point, met: false, why: "it rounds" }] }))], { criteria });
  assert.deepEqual(
    [denied.criteria[0]?.state, denied.criteria[0]?.reason],
    ["open", '"the total is right": it rounds'],
  );
});

test("claims that are not true need a person, and never help", () => {
  const findings = ["It says that it opened a pull request."];
  assert.equal(judged([item(check())], { findings }).verdict, "review");
  assert.equal(judged([item(check()), item(review())], { findings }).verdict, "review");
  assert.equal(judged([], { findings }).verdict, "review");
});

const outcome = fc.constantFrom("passed", "failed", "timed_out", "flaky", "not_run");
const anyCheck = fc.record({
  outcome,
  on_base: fc.option(outcome),
  with_base_files: fc.option(outcome),
  tests: fc.option(
    fc.record({ runner: fc.constant("jest"), passed: fc.nat(9), failed: fc.nat(9), skipped: fc.nat(9) }),
  ),
});
const anyFact = fc.oneof(
  anyCheck.map((more) => check(more)),
  fc
    .record({ gate: fc.constantFrom("approve", "revise", "escalate"), same_model: fc.boolean() })
    .map((more) => review(more)),
);
const anyItem = fc
  .record({ fact: anyFact, criteria: fc.subarray(["a", "b"]) })
  .map(({ fact, criteria }) => item(fact, { criteria }));

test("property: no evidence makes up for a check that this work broke, and no verdict comes without a reason", () => {
  fc.assert(
    fc.property(fc.array(anyItem, { maxLength: 8 }), fc.nat(8), (items, at) => {
      const criteria = ["a", "b"].map((id) => ({ id, text: id }));
      const plain = judged(items, { criteria });
      assert.notEqual(plain.reason, "");
      const broken = item(check({ outcome: "failed", on_base: "passed" }));
      assert.equal(judged(items.toSpliced(at, 0, broken), { criteria }).verdict, "failed");
      if (plain.verdict !== "verified") return;
      assert.ok(items.some(({ fact }) => (fact.kind === "check" ? fact.outcome === "passed" : true)));
      assert.ok(plain.criteria.every(({ state }) => state === "met"));
    }),
  );
});
