// Has the work of an attempt reviewed: what the reviewer is asked and shown, and once more when it only nodded.

import { isUnreadable, namedCommand } from "../../core/criterion-check.ts";
import { controlStatements } from "../../core/control-statements.ts";
import type { AskedPoint } from "../../core/ground-review.ts";
import type { HandoffEvent, HandoffNext } from "../../core/handoff-machine.ts";
import { argvLine } from "../../protocol/argv-line.ts";
import type { Handoff } from "../../protocol/routing/handoff.ts";
import type { AssignmentConfig } from "../../protocol/task/assignment.ts";
import type { Evidence, SuspectLine } from "../../protocol/task/evidence.ts";
import { type Attempt, claimText, hashOf } from "./attempt.ts";
import { ownCriteria } from "./attempt-result.ts";
import { attemptDiff, forgetReview } from "./observe-attempt.ts";
import { reviewPrompt } from "./prompts.ts";
import { reviewAttempt, type ReviewOutcome } from "./review-task.ts";

export async function review(attempt: Attempt, { model }: HandoffNext & { do: "review" }): Promise<HandoffEvent> {
  const { durable, options, config, state, handoff, worked } = attempt;
  const key = attempt.key("review");
  const saved = worked?.saved ?? null;
  const diff = await attemptDiff(attempt, `${key}.diff`);
  const suspect = suspectLines(attempt.evidence);
  const asked = askedPoints(handoff, config.criteria, suspect);
  const changed = changedPaths(attempt.evidence);
  const once = async (own: string, unsure: string | undefined): Promise<ReviewOutcome> => {
    const control = controlStatements(changed, hashOf(await durable.id(`${own}.control`)));
    const found = await reviewAttempt(durable, {
      key: own,
      ref: model,
      author: state.worker,
      prompt: reviewPrompt({
        handoff,
        asked,
        control,
        commit: attempt.observed?.commit ?? null,
        diff,
        answer: saved === null && worked !== undefined ? claimText(worked) : undefined,
        checks: [...attempt.judge().notes, ...attempt.evidence.flatMap(observation)],
        suspect,
        unsure,
      }),
      saved,
      threshold: attempt.threshold,
      ground: { asked, changed, control },
      resolve: options.resolveModel,
      hash: hashOf,
    });
    await forgetReview(attempt, `${own}.removed`, found.reviewer);
    return found;
  };
  const first = await once(key, attempt.unsure);
  // A reviewer that only nods is asked once more for its reasons.
  const isNod = first.fact?.gate === "approve" && !first.fact.same_model && !first.fact.grounded;
  const outcome = isNod ? await once(`${key}.again`, first.text) : first;
  if (outcome.fact === undefined) attempt.unsure = outcome.text;
  else attempt.add(outcome.fact, { at: await durable.now(`${key}.at`), source: outcome.reviewer });
  return outcome.event;
}

function suspectLines(evidence: readonly Evidence[]): SuspectLine[] {
  const all = evidence.flatMap(({ fact }) => (fact.kind === "check" ? (fact.suspect ?? []) : []));
  return [...new Map(all.map((line) => [`${line.path}:${line.line}`, line])).values()];
}

/** Undefined when git did not tell, or when there are too many to be listed. */
function changedPaths(evidence: readonly Evidence[]): readonly string[] | undefined {
  const git = evidence.findLast(({ fact }) => fact.kind === "git")?.fact;
  if (git?.kind !== "git" || (git.changed_count ?? 0) > git.changed.length) return undefined;
  return git.changed;
}

/** The task itself, or what its plan says must be true of it, and the criteria of the goal in words. */
function askedPoints(
  { objective, acceptance_criteria }: Handoff,
  criteria: AssignmentConfig["criteria"],
  suspect: readonly SuspectLine[],
): AskedPoint[] {
  const own = ownCriteria(acceptance_criteria);
  const task = own.length === 0 ? [{ id: "task", text: `what was asked for is done: ${objective ?? ""}` }] : [];
  const lines = "the added lines that are listed do not decide what a check says";
  return [
    ...[...task, ...own].map((point) => ({ ...point, required: true })),
    ...(suspect.length === 0 ? [] : [{ id: "lines", text: lines, required: true }]),
    ...criteria
      .filter((criterion) => namedCommand(criterion) === undefined && !isUnreadable(criterion))
      .map(({ id, text }) => ({ id, text, required: false })),
  ];
}

function observation({ fact, excerpt }: Evidence): string[] {
  if (fact.kind === "check") return [`${argvLine(fact.argv)}: ${fact.outcome}. ${fact.reason}\n${excerpt}`];
  return fact.kind === "git" ? [`changed files: ${fact.changed.join(", ")}`] : [];
}
