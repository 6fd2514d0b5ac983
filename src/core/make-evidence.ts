// Makes evidence of a fact: what the fact says about the claim that the work is done, and the part that a person should read.

import { argvLine } from "../protocol/argv-line.ts";
import type { CheckFact, Evidence, EvidenceFact, SuspectLine } from "../protocol/task/evidence.ts";
import { weakenedTests } from "./check-outcome.ts";
import { escapeControls } from "./escape-controls.ts";
import { escapeInvisible } from "./escape-invisible.ts";

export type EvidenceVerdict = Evidence["verdict"];

/** Who can settle a doubt: a reviewer of another model or a person, or a person alone, because Tutti observed it itself. */
export type Doubt = "none" | "review" | "person";

export interface FactWeight {
  readonly verdict: EvidenceVerdict;
  readonly doubt: Doubt;
  /** A sentence. */
  readonly reason: string;
}

const longestLine = 160;
const longestExcerpt = 2_000;

/** A person's word is what the person said it is; the verdict of every other fact follows from the fact. */
export function makeEvidence(
  about: Omit<Evidence, "verdict" | "excerpt" | "fact">,
  fact: EvidenceFact,
  said: EvidenceVerdict = "supports",
): Evidence {
  const verdict = fact.kind === "person" ? said : weighFact(fact, about).verdict;
  return { ...about, fact, verdict, excerpt: excerptOf(fact) };
}

export interface FactBearing {
  /** Criteria that the fact bears on. */
  readonly criteria: readonly string[];
  /** A review that is less sure does not approve. */
  readonly minConfidence?: number | undefined;
}

export function weighFact(fact: Exclude<EvidenceFact, { kind: "person" }>, bearing: FactBearing): FactWeight {
  switch (fact.kind) {
    case "check":
      return weighCheck(fact, bearing);
    case "review":
      return weighReview(fact, bearing);
    case "pr":
      return fact.exists
        ? { verdict: "supports", doubt: "none", reason: `The pull request ${fact.url} exists.` }
        : { verdict: "contradicts", doubt: "none", reason: `There is no pull request ${fact.url}.` };
    case "file":
      return { verdict: "supports", doubt: "none", reason: `The file ${fact.path} is there, with ${fact.size} bytes.` };
    case "git": {
      const { changed, changed_count: count = changed.length, clean } = fact;
      const left = clean ? "" : " There is work that is in no commit.";
      const reason = count === 0 ? "Nothing was changed." : `${count} files were changed.`;
      // That something changed says nothing about whether it is what was asked for.
      return { verdict: "nothing", doubt: count === 0 ? "person" : "none", reason: reason + left };
    }
  }
}

function weighCheck(fact: CheckFact, { criteria }: FactBearing): FactWeight {
  const line = checkLine(fact);
  switch (fact.outcome) {
    case "not_run": {
      // What the person wants to succeed is not settled by somebody's opinion because it could not be tried.
      const doubt = fact.named_by === "person" && criteria.length > 0 ? "person" : "none";
      return { verdict: "nothing", doubt, reason: `${line} was not run: ${fact.reason}` };
    }
    case "flaky":
      // That it failed was observed.
      return { verdict: "nothing", doubt: "person", reason: `${line} is flaky and proves nothing. ${fact.reason}` };
    case "passed":
      return weighPass(fact, line);
    case "failed":
    case "timed_out":
      break;
  }
  const reason = `${line} failed. ${fact.reason}`;
  if (fact.on_base === "flaky") return { verdict: "nothing", doubt: "review", reason };
  const failedBefore = fact.on_base === "failed" || fact.on_base === "timed_out";
  if (!failedBefore || criteria.length > 0 || isWorse(fact)) return { verdict: "contradicts", doubt: "none", reason };
  return { verdict: "nothing", doubt: "none", reason: `${line} failed before the work began, and still does.` };
}

/** What Tutti observed about the pass itself comes first: no opinion of a model outweighs it. */
function weighPass(fact: CheckFact, line: string): FactWeight {
  const nothing = (doubt: Doubt, why: string): FactWeight => ({ verdict: "nothing", doubt, reason: `${line} ${why}` });
  if (fact.with_base_files !== null && fact.with_base_files !== "passed") {
    return nothing("person", `passed only as the session changed it. ${fact.reason}`);
  }
  if (fact.canary === "spoken_for") {
    return nothing(
      "person",
      "passed, but a test that must fail was not reported as failed in the same run, or the run changed what it is judged by, so its output proves nothing.",
    );
  }
  const weakened = weakenedTests(fact);
  if (weakened.length > 0) return nothing("person", `passed, but: ${weakened.join(" ")}`);
  const { suspect = [] } = fact;
  if (suspect.length > 0)
    return nothing("review", `passed, but lines of the work could speak for it: ${placesOf(suspect)}.`);
  if (fact.without_work === "passed") return nothing("none", "passes without the work as well, so it proves nothing.");
  if (fact.named_by === "model" && fact.on_base !== "passed") {
    return nothing("none", "passed. Only a model named it, so a reviewer of another model has to say what it proves.");
  }
  return { verdict: "supports", doubt: "none", reason: `${line} passed. ${fact.reason}` };
}

const mostPlaces = 5;

function placesOf(suspect: readonly SuspectLine[]): string {
  const shown = suspect.slice(0, mostPlaces).map(({ path, line, why }) => `${escapeInvisible(path)}:${line} ${why}`);
  const more = suspect.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join("; ");
}

/** More tests fail than before, so not all of it was there before. */
function isWorse({ tests, base_tests }: CheckFact): boolean {
  return (tests?.failed ?? 0) > (base_tests?.failed ?? Infinity);
}

type ReviewFact = Extract<EvidenceFact, { kind: "review" }>;

function weighReview(
  { gate, conf, same_model, findings, grounded = false, fooled = false }: ReviewFact,
  { minConfidence = 0 }: FactBearing,
): FactWeight {
  const found = findings.length === 0 ? "" : ` ${escapeControls(findings.slice(0, 3).join(" "))}`;
  if (gate === "revise")
    return { verdict: "contradicts", doubt: "none", reason: `The reviewer asks for changes.${found}` };
  if (gate === "escalate") return { verdict: "nothing", doubt: "review", reason: `The reviewer escalates.${found}` };
  if (same_model) {
    return { verdict: "nothing", doubt: "review", reason: "The reviewer approves, but is the author's own model." };
  }
  if (conf < minConfidence) {
    return { verdict: "nothing", doubt: "review", reason: `The reviewer approves with a confidence of only ${conf}.` };
  }
  if (fooled) {
    const why = "The reviewer approves, and it also calls a statement about the change true that Tutti made up.";
    return { verdict: "nothing", doubt: "review", reason: why };
  }
  if (!grounded) {
    const why = "The reviewer approves, but does not say of each point why it holds and where.";
    return { verdict: "nothing", doubt: "review", reason: why };
  }
  return { verdict: "supports", doubt: "none", reason: "The reviewer approves." };
}

/** The command as people are shown it. */
export function checkLine({ argv }: Pick<CheckFact, "argv">): string {
  const line = argvLine(argv);
  return `\`${line.length > longestLine ? `${line.slice(0, longestLine - 1)}…` : line}\``;
}

function excerptOf(fact: EvidenceFact): string {
  switch (fact.kind) {
    case "check":
      return fact.output_tail.slice(-longestExcerpt).toWellFormed();
    case "review":
      return escapeControls(fact.findings.join("\n")).slice(0, longestExcerpt).toWellFormed();
    case "git":
      return escapeControls(fact.changed.slice(0, 50).join("\n")).slice(0, longestExcerpt).toWellFormed();
    case "file":
      return escapeControls(fact.path);
    case "pr":
      return escapeControls(fact.url);
    case "person":
      return escapeControls(fact.text).slice(0, longestExcerpt).toWellFormed();
  }
}
