// A viewer asks where a policy of their own making sends a handoff, with so many rules that the one process does nothing else.

import assert from "node:assert/strict";
import { test } from "node:test";

import { explainRoute } from "../../src/daemon/project/explain-route.ts";
import { initialPolicy } from "../../src/protocol/routing/default-policy.ts";

const filled = {
  task_id: "t",
  from_model: "a",
  to_model: "b",
  scope: "x",
  current_state: "x",
  expected_output: "x",
  confidence: 1,
  ...Object.fromEntries(
    ["constraints", "artifact_refs", "acceptance_criteria", "assumptions_made", "failed_checks"].map((name) => [
      name,
      ["none"],
    ]),
  ),
  ...Object.fromEntries(["fallback_triggers", "open_questions", "risks"].map((name) => [name, ["none"]])),
};

function asked(rules: number, length: number): () => unknown {
  const initial = initialPolicy("a/b");
  const decision_rules = Array.from({ length: rules }, (_, at) => `zq${at} => a/b`);
  const policy = { ...initial, words: "boundary", routing: { decision_rules } };
  return () => explainRoute({ policy, handoff: { ...filled, objective: "zq ".repeat(length / 3) } });
}

test("a question about many rules and a long text is refused before anything is searched", () => {
  const tooLarge = { code: "too_large" };
  assert.throws(asked(1_200, 30_000), tooLarge);
  // One rule of many words is no less work than many rules.
  const words = { policy: initialPolicy("a/b"), handoff: { ...filled, objective: "zq ".repeat(2_000) } };
  const policy = { ...words.policy, routing: { decision_rules: [`${"zq ".repeat(2_000)}no => a/b`] } };
  assert.throws(() => explainRoute({ ...words, policy }), tooLarge);
  assert.equal((asked(20, 30_000)() as { matched_by: string }).matched_by, "default");
});
