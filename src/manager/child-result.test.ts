import assert from "node:assert/strict";
import { test } from "node:test";

import type { AgentResult } from "../protocol/invocation/invocation-result.ts";
import type { AssignmentResult } from "../protocol/task/assignment.ts";
import { childOutcome } from "./child-result.ts";

const assignment = (more: Partial<AssignmentResult>): AssignmentResult => ({
  kind: "assignment",
  claim: "PR opened: https://github.com/a/b/pull/1, test result: ok. 3 passed",
  state: "verified",
  reason: "`npm test` passed.",
  pending: [],
  evidence: ["evd_1"],
  commit: null,
  tree: null,
  base: null,
  branch: null,
  workspace: null,
  criteria: [],
  handoff: { worker: null, attempts: 1, hops: 0, retries: 0, revisions: 0 },
  ...more,
});

const ended = (status: AgentResult["status"], content: unknown): AgentResult => ({ task_id: "tsk_1", status, content });

test("interpret_verified: a task is verified by its recorded state and evidence together", () => {
  assert.equal(childOutcome(ended("completed", assignment({}))).state, "verified");
});

test("interpret_no_evidence_stays_unverified: the state alone, and whatever the session says, verify nothing", () => {
  assert.equal(childOutcome(ended("completed", assignment({ evidence: [] }))).state, "failed");
  assert.equal(childOutcome(ended("completed", assignment({ state: "unverified" }))).state, "failed");
  const words = "PR opened: https://github.com/a/b/pull/1\ntest result: ok. 12 passed\ndiff --git a/x b/x";
  assert.equal(childOutcome(ended("completed", words)).state, "failed");
  assert.equal(childOutcome(ended("completed", { state: "verified", evidence: ["evd_1"] })).state, "failed");
});

test("interpret_failed: evidence does not beat a failure, and a canceled task does not stay running for ever", () => {
  for (const status of ["failed", "canceled"] as const) {
    const { state, reason } = childOutcome(ended(status, assignment({})));
    assert.equal(state, "failed");
    assert.notEqual(reason, "");
  }
  const { state, reason } = childOutcome(ended("completed", assignment({ state: "failed", reason: "2 tests fail" })));
  assert.deepEqual([state, reason], ["failed", "2 tests fail"]);
});
