// Judges the work of a task by its evidence: each criterion and the whole. What the session says about its work plays no part.

import type { Evidence, EvidenceFact } from "../protocol/task/evidence.ts";
import { checkLine, type EvidenceVerdict, weighFact } from "./make-evidence.ts";

interface JudgedCriterion {
  readonly id: string;
  readonly text: string;
}

type JudgedEvidence = Pick<Evidence, "id" | "fact" | "criteria" | "verdict" | "commit" | "tree" | "observed_at">;

export interface EvidenceCase {
  readonly evidence: readonly JudgedEvidence[];
  readonly criteria: readonly JudgedCriterion[];
  /** What the task hands on. Evidence from another commit or tree proves nothing about it. */
  readonly commit: string | null;
  readonly tree: string | null;
  /** What the session claimed and is not there, each a sentence. It can only make things worse. */
  readonly findings?: readonly string[];
  readonly minConfidence?: number | undefined;
}

interface CriterionJudgement {
  readonly id: string;
  readonly state: "open" | "met" | "unmet";
  readonly reason: string;
  /** What it is met or not met by. */
  readonly evidence: readonly string[];
}

export interface Judgement {
  /** `review`: somebody else must look, because something contradicts itself. `unverified`: nothing proves it. */
  readonly verdict: "verified" | "unverified" | "failed" | "review";
  readonly reason: string;
  readonly criteria: readonly CriterionJudgement[];
  /** What a person should know whatever the verdict is, each a sentence. */
  readonly notes: readonly string[];
}

interface Weighed {
  readonly item: JudgedEvidence;
  readonly verdict: EvidenceVerdict;
  readonly review: boolean;
  readonly reason: string;
}

/**
 * One failure outweighs any success (invariant 12). Only a person who accepts the work after the failure was observed can
 * overrule it, and the reason says so.
 */
export function judgeEvidence(judged: EvidenceCase): Judgement {
  const { criteria, findings = [] } = judged;
  const current = judged.evidence.filter((item) => isAbout(item, judged));
  const weighed = current.map((item) => weigh(item, judged));
  const accepted = weighed.findLast(({ item, verdict }) => item.fact.kind === "person" && verdict === "supports");
  const overruled = (each: Weighed): boolean =>
    accepted !== undefined && each !== accepted && each.item.observed_at <= accepted.item.observed_at;
  const against = weighed.filter((each) => each.verdict === "contradicts" && !overruled(each));
  const states = criteria.map((criterion) => judgeCriterion(criterion, { weighed, overruled }));
  const stale = judged.evidence.length - current.length;
  const notes = [
    ...weighed.filter(({ verdict, item }) => verdict === "nothing" && item.fact.kind === "check").map(reasonOf),
    ...(stale === 0 ? [] : [`${stale} pieces of evidence are about another commit and were not used.`]),
    ...findings,
  ];
  return { ...conclude({ weighed, against, states, accepted, findings, overruled }), criteria: states, notes };
}

interface Standing {
  readonly weighed: readonly Weighed[];
  readonly overruled: (each: Weighed) => boolean;
}

interface Conclusion extends Standing {
  readonly against: readonly Weighed[];
  readonly states: readonly CriterionJudgement[];
  readonly accepted: Weighed | undefined;
  readonly findings: readonly string[];
}

function conclude(standing: Conclusion): Pick<Judgement, "verdict" | "reason"> {
  const { weighed, against, states, accepted, findings, overruled } = standing;
  if (against.length > 0) return { verdict: "failed", reason: joined(against.map(reasonOf)) };
  const unmet = states.filter(({ state }) => state === "unmet");
  if (unmet.length > 0) return { verdict: "failed", reason: joined(unmet.map(reasonOf)) };
  if (accepted !== undefined) {
    const despite = weighed.filter((each) => (each.verdict === "contradicts" || each.review) && overruled(each));
    return {
      verdict: "verified",
      reason: joined([accepted.reason, ...despite.map(({ reason }) => `Despite: ${reason}`)]),
    };
  }
  const approved = weighed.some(({ item, verdict }) => item.fact.kind === "review" && verdict === "supports");
  const doubtful = approved ? [] : weighed.filter(({ review }) => review);
  if (doubtful.length > 0) return { verdict: "review", reason: joined(doubtful.map(reasonOf)) };
  if (findings.length > 0 && !approved) return { verdict: "review", reason: joined(findings) };
  const open = states.filter(({ state }) => state === "open");
  if (open.length > 0) return { verdict: "unverified", reason: joined(open.map(reasonOf)) };
  // That a file or a pull request exists can meet a criterion, but says nothing about the work as a whole.
  const proofs = weighed.filter(
    ({ verdict, item }) => verdict === "supports" && (item.fact.kind === "check" || item.fact.kind === "review"),
  );
  if (proofs.some((each) => states.length > 0 || isNew(each.item.fact))) {
    return { verdict: "verified", reason: joined(proofs.map(reasonOf)) };
  }
  if (proofs.length > 0) {
    return { verdict: "unverified", reason: "The checks show only that what held before still holds." };
  }
  return { verdict: "unverified", reason: "Nothing that Tutti observed shows that the work is done." };
}

function judgeCriterion({ id, text }: JudgedCriterion, { weighed, overruled }: Standing): CriterionJudgement {
  const bearing = weighed.filter(({ item }) => bearsOn(item, id));
  const against = bearing.filter((each) => each.verdict === "contradicts" && !overruled(each));
  const ids = (list: readonly Weighed[]): string[] => list.map(({ item }) => item.id);
  if (against.length > 0) {
    return { id, state: "unmet", reason: `"${text}": ${joined(against.map(reasonOf))}`, evidence: ids(against) };
  }
  const supports = bearing.filter((each) => each.verdict === "supports");
  const proofs = supports.filter(({ item }) => isNew(item.fact) || isSameAs(item.fact, text));
  if (proofs.length > 0) {
    return { id, state: "met", reason: `"${text}": ${joined(proofs.map(reasonOf))}`, evidence: ids(proofs) };
  }
  const why =
    supports.length > 0
      ? "what was checked held before the work began, so it shows only that it still holds."
      : joined(bearing.length > 0 ? bearing.map(reasonOf) : ["nothing proves it."]);
  return { id, state: "open", reason: `"${text}": ${why}`, evidence: [] };
}

/** A review and a person's word that name no criterion are about all of them. */
function bearsOn({ criteria, fact }: JudgedEvidence, id: string): boolean {
  return criteria.includes(id) || (criteria.length === 0 && (fact.kind === "review" || fact.kind === "person"));
}

/** A check that passed on the base already shows only that it still holds. */
function isNew(fact: EvidenceFact): boolean {
  return fact.kind !== "check" || fact.on_base !== "passed";
}

/** A criterion that names the check itself is met when the check passes, also if it passed before. */
function isSameAs(fact: EvidenceFact, text: string): boolean {
  return fact.kind === "check" && text.includes(checkLine(fact).slice(1, -1));
}

function weigh(item: JudgedEvidence, { minConfidence }: EvidenceCase): Weighed {
  const { fact } = item;
  if (fact.kind !== "person") return { item, ...weighFact(fact, { criteria: item.criteria, minConfidence }) };
  const { verdict } = item;
  const says = { supports: "accepted the work", contradicts: "rejected the work", nothing: "looked at the work" }[
    verdict
  ];
  return { item, verdict, review: false, reason: `${fact.by} ${says}.` };
}

/** A person's word and a pull request may be about the task as such; everything else was observed on certain files. */
function isAbout({ commit, tree, fact }: JudgedEvidence, judged: EvidenceCase): boolean {
  if (commit === null && tree === null && fact.kind !== "person" && fact.kind !== "pr") {
    return judged.commit === null && judged.tree === null;
  }
  const differs = (one: string | null, other: string | null): boolean =>
    one !== null && other !== null && one !== other;
  return !differs(commit, judged.commit) && !differs(tree, judged.tree);
}

function reasonOf({ reason }: { readonly reason: string }): string {
  return reason;
}

/** So many reasons are said. */
const mostReasons = 5;

function joined(reasons: readonly string[]): string {
  const more = reasons.length - mostReasons;
  return [...reasons.slice(0, mostReasons), ...(more > 0 ? [`And ${more} more.`] : [])].join(" ");
}
