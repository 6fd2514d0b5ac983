// Says whether nothing is missing for work to be verified but the judgement of somebody else than its author's model.

import type { EvidenceFact } from "../protocol/task/evidence.ts";
import { type EvidenceCase, judgeEvidence } from "./judge-evidence.ts";
import { weighFact } from "./make-evidence.ts";

type ReviewFact = Extract<EvidenceFact, { kind: "review" }>;

/** What a reviewer of another model would have said of good work. It is never recorded. */
const approval: ReviewFact = {
  kind: "review",
  reviewer: "tsk_nobody",
  gate: "approve",
  model: "",
  same_model: false,
  conf: 1,
  findings: [],
  points: [],
  grounded: true,
};

/** False where anything speaks against the work, and where another model or a person was asked about it already. */
export function lacksOnlyJudge(judged: EvidenceCase): boolean {
  const { evidence, commit, tree } = judged;
  if (evidence.some(({ fact }) => isJudgement(fact) || isDoubtfulFailure(fact))) return false;
  const supposed = {
    id: "evd_supposed",
    fact: approval,
    criteria: [],
    verdict: "supports" as const,
    commit,
    tree,
    observed_at: 0,
  };
  const observed = evidence.filter(({ fact }) => fact.kind !== "review");
  return judgeEvidence({ ...judged, evidence: [...observed, supposed] }).verdict === "verified";
}

/** An approval by the author's own model is none. */
function isJudgement(fact: EvidenceFact): boolean {
  return fact.kind === "person" || (fact.kind === "review" && !(fact.same_model && fact.gate === "approve"));
}

/** A reviewer may settle it, and no other task may be built on it before somebody did. */
function isDoubtfulFailure(fact: EvidenceFact): boolean {
  return (
    fact.kind === "check" &&
    (fact.outcome === "failed" || fact.outcome === "timed_out") &&
    weighFact(fact, { criteria: [] }).doubt !== "none"
  );
}
