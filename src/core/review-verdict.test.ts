import assert from "node:assert/strict";
import { test } from "node:test";
import type { RouteDecision } from "../protocol/routing/route-handoff.ts";
import { judgeReview, namesRisk, reviewNeed } from "./review-verdict.ts";

const judged = (gate: string | undefined, conf?: number): string =>
  judgeReview({ review: { ...(gate === undefined ? {} : { gate }), ...(conf === undefined ? {} : { conf }) } }, 0.85)
    .verdict;

test("one clear gate is followed, whatever its case and blanks", () => {
  assert.equal(judged("approve", 0.85), "approve");
  assert.equal(judged(" Approve\n", 1), "approve");
  assert.equal(judged("revise"), "revise");
  assert.equal(judged("ESCALATE", 0.99), "escalate");
});

test("a menu, an empty gate and an unknown one escalate", () => {
  for (const gate of ["approve | revise | escalate", "approve|", "", " ", undefined, "approved", "lgtm"]) {
    assert.equal(judged(gate, 1), "escalate", String(gate));
  }
});

test("an approval below the threshold or out of range escalates", () => {
  for (const conf of [0.82, 0, -1, 1.2, Number.NaN]) assert.equal(judged("approve", conf), "escalate", String(conf));
});

test("an approval without a confidence is asked for it", () => {
  assert.equal(judged("approve"), "ask");
});

test("how sure a reviewer is matters only to an approval", () => {
  assert.equal(judged("revise", 0.1), "revise");
});

const by = (matched_by: RouteDecision["matched_by"]): RouteDecision => ({
  model: "m",
  reason: "r",
  matched_by,
  words: [],
});
const safe = { decision: by("scope"), namesRisk: false, checks: "pass" } as const;

test("always and never are what they say", () => {
  assert.equal(reviewNeed("always", safe).needed, true);
  assert.equal(reviewNeed("never", { decision: by("risk"), namesRisk: true, checks: "none" }).needed, false);
});

test("on risk, a review is needed for an escalated route, a named risk, or work that nothing checked", () => {
  assert.equal(reviewNeed("risk", safe).needed, false);
  for (const matched_by of ["conf", "risk", "ambiguity", "contradiction"] as const) {
    assert.equal(reviewNeed("risk", { ...safe, decision: by(matched_by) }).needed, true, matched_by);
  }
  assert.equal(reviewNeed("risk", { ...safe, namesRisk: true }).needed, true);
  assert.equal(reviewNeed("risk", { ...safe, checks: "none" }).needed, true);
});

test('"none" names no risk', () => {
  assert.deepEqual(
    [["none"], ["None ", ""], [], undefined].map((risks) => namesRisk(risks === undefined ? {} : { risks })),
    [false, false, false, false],
  );
  assert.equal(namesRisk({ risks: ["none", "breaks login"] }), true);
});
