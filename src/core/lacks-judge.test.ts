import assert from "node:assert/strict";
import { test } from "node:test";

import type { CheckFact, EvidenceFact } from "../protocol/task/evidence.ts";
import { lacksOnlyJudge } from "./lacks-judge.ts";

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
  on_base: "passed",
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
  same_model: true,
  conf: 0.9,
  findings: [],
  grounded: true,
  ...more,
});

const git = (changed: string[]): EvidenceFact => ({ kind: "git", base: "b", head: "h", clean: true, changed });

function lacks(facts: readonly EvidenceFact[], findings: readonly string[] = []): boolean {
  const about = { id: "evd_1", criteria: [], verdict: "supports", commit: "c1", tree: "t1", observed_at: 1 } as const;
  const evidence = facts.map((fact) => ({ ...about, criteria: [], fact }));
  return lacksOnlyJudge({ evidence, criteria: [], commit: "c1", tree: "t1", findings });
}

test("work lacks only a judge where nothing speaks against it and nothing proves it", () => {
  assert.ok(lacks([]));
  assert.ok(lacks([git(["a.js"]), check()]), "what held before still holds");
  assert.ok(lacks([git(["a.js"]), check({ named_by: "model", on_base: "failed" })]), "a model named the check");
  assert.ok(lacks([check({ suspect: [{ path: "a.js", line: 1, text: "exit", why: "ends the process" }] })]));
  assert.ok(
    lacks([check({ outcome: "failed", on_base: "failed" })]),
    "the check failed before, and is none of its own",
  );
  assert.ok(lacks([git(["a.js"]), review()]), "an approval by the author's own model judges nothing");
});

test("invariant 12: what was observed against the work is never only a lack of a judge", () => {
  assert.ok(!lacks([check({ outcome: "failed" })]), "the work broke a check");
  assert.ok(!lacks([check({ outcome: "flaky" })]));
  assert.ok(!lacks([check({ outcome: "failed", on_base: "flaky" })]));
  assert.ok(!lacks([check({ on_base: "failed", with_base_files: "failed" })]), "only as the session changed it");
  assert.ok(!lacks([check({ on_base: "failed", canary: "spoken_for" })]));
  assert.ok(!lacks([git([])]), "nothing was changed");
  assert.ok(!lacks([git(["a.js"])], ["It says that b.js was changed."]));
});

test("where another model or a person was asked already, their word stands", () => {
  assert.ok(!lacks([review({ same_model: false, grounded: false })]), "a nod");
  assert.ok(!lacks([review({ same_model: false, gate: "revise" })]));
  assert.ok(!lacks([review({ gate: "escalate" })]), "the author's own model escalates");
  assert.ok(!lacks([{ kind: "person", by: "Ada", text: "fine" }]));
});
