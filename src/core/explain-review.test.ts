import assert from "node:assert/strict";
import { test } from "node:test";

import { TuttiError } from "../protocol/error.ts";
import { readPolicy } from "../protocol/routing/read-policy.ts";
import { explainReview } from "./explain-review.ts";

const toon = "from: a\nto: b\nreview:\n  task: t1\n  conf: 0.9\n  findings[1]: fine\n  gate: approve\n";

test("a review in TOON, JSON or as an object gives its verdict, the reason and what it was read as", () => {
  const envelope = { from: "a", to: "b", review: { task: "t1", conf: 0.9, findings: ["fine"], gate: "approve" } };
  const decision = { verdict: "approve", reason: "the reviewer approves", threshold: 0.85, envelope, warnings: [] };
  for (const given of [toon, JSON.stringify(envelope), envelope]) assert.deepEqual(explainReview(given), decision);
});

test("the thresholds of the policy count, and what is no review is refused", () => {
  const policy = readPolicy({ gate: { fail_if_conf_less: 0.95 } });
  assert.ok(policy.ok);
  const { verdict, reason } = explainReview(toon, policy.value);
  assert.deepEqual([verdict, reason], ["escalate", "review confidence 0.9 is below 0.95"]);
  assert.throws(() => explainReview({}), TuttiError);
  assert.match(explainReview({ review: { gate: "approve" }, colour: 1 }).warnings.join(), /colour/);
});
