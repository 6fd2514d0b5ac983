// REPORT for a goal that came from an issue: shows the exact comment, and posts it once a person agreed.

import { z } from "zod";

import { quoted } from "../core/foreign-words.ts";
import { issueComment } from "../core/issue-comment.ts";
import { TuttiError } from "../protocol/error.ts";
import type { GoalStatus } from "../protocol/task/goal.ts";
import { approveOnGoal, type GoalRun, goalNow, nextKey, noteOnGoal } from "./goal-run.ts";

const Posted = z.strictObject({ ok: z.boolean(), said: z.string() });

export async function postOutcome(
  run: GoalRun,
  outcome: { readonly status: GoalStatus; readonly reason: string },
): Promise<void> {
  const { issue } = run.file.goal;
  const { comment } = run.deps;
  if (issue === undefined || comment === undefined) return;
  const { url } = issue;
  const text = issueComment({ goal: goalNow(run), outcome, branch: run.goal.integration?.branch ?? null });
  const question = [
    `May this comment be posted on ${url}? It is posted with your login of gh, exactly as it stands here.`,
    quoted(text),
  ].join("\n");
  const { approved } = await approveOnGoal(
    run,
    { question, details: { url, comment: text } },
    "a comment waits for a yes",
  );
  if (!approved) return noteOnGoal(run, `the outcome was not posted on ${url}, because nobody agreed`);
  try {
    // It is not repeatable: a comment that may be there already is not posted a second time.
    const options = { repeatable: false, schema: Posted } as const;
    const { ok, said } = await run.durable.step(nextKey(run, "comment"), options, ({ signal }) =>
      comment({ url, text }, signal),
    );
    noteOnGoal(run, ok ? `the outcome was posted: ${said || url}` : `the outcome could not be posted: ${said}`);
  } catch (thrown) {
    if (!(thrown instanceof TuttiError) || !["step_failed", "outcome_unknown"].includes(thrown.code)) throw thrown;
    noteOnGoal(run, `it is not known whether the outcome was posted on ${url}: ${thrown.message}`);
  }
}
