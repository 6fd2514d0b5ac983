// Judges the work of a task by its evidence: each criterion and the whole. What the session says about its work plays no part.

import type { Evidence, EvidenceFact, ReviewedPoint } from "../protocol/task/evidence.ts";
import type { Criterion } from "../protocol/task/goal.ts";
import { escapeControls } from "./escape-controls.ts";
import { boundCheck, isSameArgv, isUnreadable } from "./criterion-check.ts";
import { type Doubt, type EvidenceVerdict, weighFact } from "./make-evidence.ts";

type JudgedCriterion = Pick<Criterion, "id" | "text" | "by">;

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
  /** Files of the change that a reviewer named for it. It says nothing about work in which they differ. */
  readonly files?: readonly string[];
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
  readonly doubt: Doubt;
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
  const states = criteria.map((criterion) => judgeCriterion(criterion, { weighed, overruled, accepted }));
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
  /** The person's acceptance of the work. */
  readonly accepted: Weighed | undefined;
}

interface Conclusion extends Standing {
  readonly against: readonly Weighed[];
  readonly states: readonly CriterionJudgement[];
  readonly findings: readonly string[];
}

function conclude(standing: Conclusion): Pick<Judgement, "verdict" | "reason"> {
  const { weighed, against, states, accepted, findings, overruled } = standing;
  if (against.length > 0) return { verdict: "failed", reason: joined(against.map(reasonOf)) };
  const unmet = states.filter(({ state }) => state === "unmet");
  if (unmet.length > 0) return { verdict: "failed", reason: joined(unmet.map(reasonOf)) };
  if (accepted !== undefined) {
    const despite = weighed.filter(
      (each) => (each.verdict === "contradicts" || each.doubt !== "none") && overruled(each),
    );
    return {
      verdict: "verified",
      reason: joined([accepted.reason, ...despite.map(({ reason }) => `Despite: ${reason}`)]),
    };
  }
  // No approval of a model outweighs what was observed.
  const observed = [...weighed.filter(({ doubt }) => doubt === "person").map(reasonOf), ...findings];
  if (observed.length > 0) return { verdict: "review", reason: joined(observed) };
  const doubtful = hasApproval(weighed) ? [] : weighed.filter(({ doubt }) => doubt === "review");
  if (doubtful.length > 0) return { verdict: "review", reason: joined(doubtful.map(reasonOf)) };
  const open = states.filter(({ state }) => state === "open");
  if (open.length > 0) return { verdict: "unverified", reason: joined(open.map(reasonOf)) };
  // That a file or a pull request exists can meet a criterion, but says nothing about the work as a whole.
  const proofs = weighed.filter(
    ({ verdict, item: { fact } }) => verdict === "supports" && (fact.kind === "review" || isNewPass(fact)),
  );
  if (proofs.length > 0) return { verdict: "verified", reason: joined(proofs.map(reasonOf)) };
  const held = weighed.filter(({ item: { fact } }) => fact.kind === "check" && fact.outcome === "passed");
  const reason =
    held.length === 0
      ? "Nothing that Tutti observed shows that the work is done."
      : held.every(({ item: { fact } }) => fact.kind === "check" && fact.on_base === "passed")
        ? "The checks show only that what held before still holds."
        : joined(held.map(reasonOf));
  return { verdict: "unverified", reason };
}

/** A criterion that is bound to a check is met by that check alone; one in words by a review that judges it, or by a person. */
function judgeCriterion(criterion: JudgedCriterion, standing: Standing): CriterionJudgement {
  const { weighed } = standing;
  const argvs = weighed.flatMap(({ item: { fact } }) => (fact.kind === "check" ? [fact.argv] : []));
  const bound = boundCheck(criterion, argvs);
  if (bound !== undefined) return judgeBound(criterion, { ...standing, bound });
  if (isUnreadable(criterion)) return judgeUnreadable(criterion, standing);
  return judgeWords(criterion, standing);
}

function judgeBound(
  { id, text }: JudgedCriterion,
  { weighed, overruled, accepted, bound }: Standing & { readonly bound: readonly string[] },
): CriterionJudgement {
  const own = weighed.filter(({ item: { fact } }) => fact.kind === "check" && isSameArgv(fact.argv, bound));
  const failed = own.filter((each) => hasFailed(each.item.fact) && !overruled(each));
  if (failed.length > 0) return judgement(id, "unmet", { text, by: failed });
  const doubtful = own.filter(({ doubt }) => doubt === "person");
  const settled = hasApproval(weighed) ? ["none", "review"] : ["none"];
  const passed = own.filter(
    ({ item: { fact }, doubt }) => fact.kind === "check" && fact.outcome === "passed" && settled.includes(doubt),
  );
  if (passed.length > 0 && doubtful.length === 0) return judgement(id, "met", { text, by: passed });
  // Whoever accepts the work as a whole was shown what was observed of a pass, and says nothing about a check that gave none.
  const isShown = own.some(({ item: { fact } }) => fact.kind === "check" && fact.outcome === "passed");
  if (accepted !== undefined && (isShown ? isOfCriterion(accepted.item, id) : accepted.item.criteria.includes(id)))
    return judgement(id, "met", { text, by: [accepted] });
  const why = own.length > 0 ? joined(own.map(reasonOf)) : "its check was not run.";
  return { id, state: "open", reason: `"${text}": ${why}`, evidence: [] };
}

/** It says which check proves it, so nothing else does but the person. */
function judgeUnreadable({ id, text }: JudgedCriterion, { accepted }: Standing): CriterionJudgement {
  if (accepted?.item.criteria.includes(id) === true) return judgement(id, "met", { text, by: [accepted] });
  const reason = `"${text}": its command needs a shell, so it was not run; write it as several criteria, or name a script.`;
  return { id, state: "open", reason, evidence: [] };
}

function judgeWords({ id, text }: JudgedCriterion, { weighed, overruled }: Standing): CriterionJudgement {
  const against = weighed.filter(
    (each) =>
      each.verdict === "contradicts" &&
      each.item.fact.kind !== "check" &&
      isOfCriterion(each.item, id) &&
      !overruled(each),
  );
  if (against.length > 0) return judgement(id, "unmet", { text, by: against });
  const met = weighed.filter(({ item, verdict }) => verdict === "supports" && speaksFor(item, id));
  if (met.length > 0) {
    const points = met.flatMap(({ item: { fact } }) => pointOf(fact, id) ?? []);
    const said = points.map(({ why, where }) => `${escapeControls(why)} (${escapeControls(where)})`);
    const reason = `"${text}": ${joined([...met.map(reasonOf), ...said])}`;
    return { id, state: "met", reason, evidence: idsOf(met), files: points.map(({ where }) => where) };
  }
  const denied = weighed.flatMap(({ item: { fact } }) => pointOf(fact, id) ?? []).filter((point) => !point.met);
  const why = denied.length > 0 ? joined(denied.map((point) => escapeControls(point.why))) : "nothing proves it.";
  return { id, state: "open", reason: `"${text}": ${why}`, evidence: [] };
}

/** What a check shows is said of the checks, never of words. */
function speaksFor({ fact, criteria }: JudgedEvidence, id: string): boolean {
  switch (fact.kind) {
    case "review":
      return pointOf(fact, id)?.met === true;
    case "person":
      return criteria.length === 0 || criteria.includes(id);
    case "file":
    case "pr":
      return criteria.includes(id);
    case "check":
    case "git":
      return false;
  }
}

function pointOf(fact: EvidenceFact, id: string): ReviewedPoint | undefined {
  return fact.kind === "review" ? fact.points?.find((point) => point.id === id) : undefined;
}

/** A review and a person's word that name no criterion are about all of them. */
function isOfCriterion({ criteria, fact }: JudgedEvidence, id: string): boolean {
  return criteria.includes(id) || (criteria.length === 0 && (fact.kind === "review" || fact.kind === "person"));
}

function judgement(
  id: string,
  state: "met" | "unmet",
  { text, by }: { readonly text: string; readonly by: readonly Weighed[] },
): CriterionJudgement {
  return { id, state, reason: `"${text}": ${joined(by.map(reasonOf))}`, evidence: idsOf(by) };
}

function idsOf(list: readonly Weighed[]): string[] {
  return list.map(({ item }) => item.id);
}

function hasFailed(fact: EvidenceFact): boolean {
  return fact.kind === "check" && (fact.outcome === "failed" || fact.outcome === "timed_out");
}

function hasApproval(weighed: readonly Weighed[]): boolean {
  return weighed.some(({ item, verdict }) => item.fact.kind === "review" && verdict === "supports");
}

/** A check that passed on the base already shows only that it still holds. */
function isNewPass(fact: EvidenceFact): boolean {
  return fact.kind === "check" && fact.on_base !== "passed";
}

function weigh(item: JudgedEvidence, { minConfidence }: EvidenceCase): Weighed {
  const { fact } = item;
  if (fact.kind !== "person") return { item, ...weighFact(fact, { criteria: item.criteria, minConfidence }) };
  const { verdict } = item;
  const says = { supports: "accepted the work", contradicts: "rejected the work", nothing: "looked at the work" }[
    verdict
  ];
  return { item, verdict, doubt: "none", reason: `${fact.by} ${says}.` };
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
