import assert from "node:assert/strict";
import { test } from "node:test";
import { readReview } from "./read-review.ts";

const documented = `from:
  value: "gpt-5.3-codex-spark"
to:
  value: "gpt-5.4"
review:
  task: "task-102"
  conf: 0.82
  findings[3]: "assumptions", "risks", "validation_status"
  required[3]: "evidence", "counterexamples", "alternative_if_incomplete"
  gate: "approve | revise | escalate"
`;

test("the review envelope is read, its menu of gates as written", () => {
  assert.deepEqual(readReview(documented), {
    ok: true,
    value: {
      from: "gpt-5.3-codex-spark",
      to: "gpt-5.4",
      review: {
        task: "task-102",
        conf: 0.82,
        findings: ["assumptions", "risks", "validation_status"],
        required: ["evidence", "counterexamples", "alternative_if_incomplete"],
        gate: "approve | revise | escalate",
      },
    },
    warnings: [],
  });
});

test("a gate needs no quotes", () => {
  const read = readReview("review:\n  gate: approve | revise | escalate\n");
  assert.ok(read.ok);
  assert.equal(read.value.review.gate, "approve | revise | escalate");
});

test("a review without a body has no gate, and is warned of", () => {
  assert.deepEqual(readReview({ from: "a", gate: "approve" }), {
    ok: true,
    value: { from: "a", review: {} },
    warnings: ["gate is not a known field and was ignored", "review is missing, so there is no gate"],
  });
});

test("an unreadable confidence is refused, never passed over", () => {
  const read = readReview({ review: { gate: "approve", conf: "sure" } });
  assert.ok(!read.ok);
  assert.match(read.error.message, /review\.conf must be a number/);
});
