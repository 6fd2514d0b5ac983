// Makes evidence of a fact: what the fact says about the claim that the work is done, and the part that a person should read.

import type { CheckFact, Evidence, EvidenceFact } from "../protocol/task/evidence.ts";
import { weakenedTests } from "./check-outcome.ts";
import { escapeControls } from "./escape-controls.ts";
import { shellWord } from "./shell-word.ts";

export type EvidenceVerdict = Evidence["verdict"];

export interface FactWeight {
  readonly verdict: EvidenceVerdict;
  /** Whether somebody else has to look before anything is concluded. */
  readonly review: boolean;
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
        ? { verdict: "supports", review: false, reason: `The pull request ${fact.url} exists.` }
        : { verdict: "contradicts", review: false, reason: `There is no pull request ${fact.url}.` };
    case "file":
      return { verdict: "supports", review: false, reason: `The file ${fact.path} is there, with ${fact.size} bytes.` };
    case "git": {
      const { changed, changed_count: count = changed.length, clean } = fact;
      const left = clean ? "" : " There is work that is in no commit.";
      const reason = count === 0 ? "Nothing was changed." : `${count} files were changed.`;
      // That something changed says nothing about whether it is what was asked for.
      return { verdict: "nothing", review: false, reason: reason + left };
    }
  }
}

function weighCheck(fact: CheckFact, { criteria }: FactBearing): FactWeight {
  const line = checkLine(fact);
  switch (fact.outcome) {
    case "not_run":
      return { verdict: "nothing", review: false, reason: `${line} was not run: ${fact.reason}` };
    case "flaky":
      return { verdict: "nothing", review: true, reason: `${line} is flaky and proves nothing. ${fact.reason}` };
    case "passed":
      return weighPass(fact, line);
    case "failed":
    case "timed_out":
      break;
  }
  const reason = `${line} failed. ${fact.reason}`;
  if (fact.on_base === "flaky") return { verdict: "nothing", review: true, reason };
  const failedBefore = fact.on_base === "failed" || fact.on_base === "timed_out";
  if (!failedBefore || criteria.length > 0 || isWorse(fact)) return { verdict: "contradicts", review: false, reason };
  return { verdict: "nothing", review: false, reason: `${line} failed before the work began, and still does.` };
}

function weighPass(fact: CheckFact, line: string): FactWeight {
  if (fact.with_base_files !== null && fact.with_base_files !== "passed") {
    return {
      verdict: "nothing",
      review: true,
      reason: `${line} passed only as the session changed it. ${fact.reason}`,
    };
  }
  const weakened = weakenedTests(fact);
  if (weakened.length > 0) {
    return { verdict: "nothing", review: true, reason: `${line} passed, but: ${weakened.join(" ")}` };
  }
  return { verdict: "supports", review: false, reason: `${line} passed. ${fact.reason}` };
}

/** More tests fail than before, so not all of it was there before. */
function isWorse({ tests, base_tests }: CheckFact): boolean {
  return (tests?.failed ?? 0) > (base_tests?.failed ?? Infinity);
}

type ReviewFact = Extract<EvidenceFact, { kind: "review" }>;

function weighReview({ gate, conf, same_model, findings }: ReviewFact, { minConfidence = 0 }: FactBearing): FactWeight {
  const found = findings.length === 0 ? "" : ` ${escapeControls(findings.slice(0, 3).join(" "))}`;
  if (gate === "revise")
    return { verdict: "contradicts", review: false, reason: `The reviewer asks for changes.${found}` };
  if (gate === "escalate") return { verdict: "nothing", review: true, reason: `The reviewer escalates.${found}` };
  if (same_model) {
    return { verdict: "nothing", review: true, reason: "The reviewer approves, but is the author's own model." };
  }
  if (conf < minConfidence) {
    return { verdict: "nothing", review: true, reason: `The reviewer approves with a confidence of only ${conf}.` };
  }
  return { verdict: "supports", review: false, reason: "The reviewer approves." };
}

/** The command as people are shown it. */
export function checkLine({ argv }: Pick<CheckFact, "argv">): string {
  const line = escapeControls(argv.map(shellWord).join(" ").replaceAll("\n", " "));
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
