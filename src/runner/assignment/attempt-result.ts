// What an attempt of an assignment comes to: its state, why, and what the evidence says of each criterion.

import { asSentence } from "../../core/as-sentence.ts";
import { effortSentence } from "../../core/check-claims.ts";
import { checkLine } from "../../core/make-evidence.ts";
import type { AssignmentResult } from "../../protocol/task/assignment.ts";
import type { Handoff } from "../../protocol/routing/handoff.ts";
import type { Evidence } from "../../protocol/task/evidence.ts";
import type { Attempt } from "./attempt.ts";
import type { Worked } from "./attempt-records.ts";

/** What the plan says must be true of the task alone. */
export function ownCriteria(given: Handoff["acceptance_criteria"]): { readonly id: string; readonly text: string }[] {
  const texts = (given ?? []).filter((text) => text !== "none");
  return texts.map((text, at) => ({ id: `task:${at + 1}`, text }));
}

/** Checks that the person named for the whole goal, and that fail as they did before the work. */
function failingChecks({ evidence }: Attempt): string[][] {
  return evidence.flatMap(({ fact }) =>
    fact.kind === "check" && fact.named_by === "person" && ["failed", "timed_out", "not_run"].includes(fact.outcome)
      ? [fact.argv]
      : [],
  );
}

function isAccepted(evidence: readonly Evidence[]): boolean {
  return evidence.some(({ fact, verdict }) => fact.kind === "person" && verdict === "supports");
}

function waitsFor(pending: readonly (readonly string[])[]): string {
  const lines = pending.map((argv) => checkLine({ argv: [...argv] })).join(", ");
  return `It is done as far as this task goes; ${lines} still fails and has to succeed with the rest of the goal.`;
}

function effortLine(worked: Attempt["worked"]): string {
  const effort = worked === undefined ? null : effortOf(worked);
  return effort === null ? "" : ` What it did: ${effort}`;
}

export function effortOf({ effort, saved }: Worked): string | null {
  return effort === null ? null : effortSentence({ ...effort, changedCount: saved?.files ?? 0 });
}

export function resultOf(attempt: Attempt, left?: string): AssignmentResult {
  const { durable, state, worked, observed, config, handoff, evidence } = attempt;
  const criteria = [...ownCriteria(handoff.acceptance_criteria), ...config.criteria];
  const judged = attempt.judge(criteria);
  const { hops, retries, revisions } = state.counters;
  const proved = attempt.judge();
  const isVerified = state.phase === "done" && proved.verdict === "verified";
  const { unjudged } = attempt;
  const pending = unjudged !== undefined || (isVerified && !isAccepted(evidence)) ? failingChecks(attempt) : [];
  const isDone = worked !== undefined && worked.failure === null;
  const isFailed = ["failed", "abandoned"].includes(state.phase) || proved.verdict === "failed" || !isDone;
  return {
    kind: "assignment",
    claim: worked?.claim ?? null,
    state: isVerified && pending.length === 0 ? "verified" : isFailed ? "failed" : "unverified",
    reason:
      left ??
      (state.phase === "abandoned" && worked !== undefined
        ? `${proved.reason} ${asSentence(attempt.reason)}`
        : pending.length > 0
          ? `${unjudged === undefined ? "" : `${unjudged} `}${waitsFor(pending)}`
          : isVerified || unjudged !== undefined
            ? proved.reason
            : attempt.reason),
    pending,
    ...(unjudged === undefined ? {} : { unjudged: `${unjudged}${effortLine(worked)}` }),
    evidence: evidence.map(({ id }) => id),
    commit: observed?.commit ?? worked?.saved?.tip ?? null,
    tree: observed?.tree ?? null,
    base: attempt.base,
    branch: worked?.saved?.branch ?? null,
    workspace: worked?.saved?.workspace ?? null,
    criteria: judged.criteria.map(({ id, state: found, reason, evidence: by, files }, index) => ({
      id,
      text: criteria[index]?.text ?? "",
      state: found,
      reason,
      evidence: [...by],
      ...(files === undefined ? {} : { files: [...files] }),
    })),
    ...(attempt.endedBy === undefined ? {} : { goal_ended_by: attempt.endedBy }),
    handoff: { worker: state.worker ?? null, attempts: durable.attempt, hops, retries, revisions },
  };
}
