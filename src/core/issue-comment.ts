// The comment that tells an issue what became of the goal that was made from it.

import type { Goal, GoalStatus } from "../protocol/task/goal.ts";
import { doneSentence } from "./done-sentence.ts";
import { codeText } from "./render-report.ts";

export interface CommentParts {
  readonly goal: Goal;
  readonly outcome: { readonly status: GoalStatus; readonly reason: string };
  readonly branch: string | null;
}

/** Whatever others wrote stands in code spans, where it is no Markdown and mentions nobody. */
export function issueComment({ goal, outcome, branch }: CommentParts): string {
  const done = outcome.status === "done";
  const states = new Map(goal.links.map(({ planned, state }) => [planned, state]));
  return [
    done ? `**Done:** ${doneSentence(goal)}.` : "**Not reached.**",
    ...(done ? [] : [codeText(outcome.reason)]),
    ...list(
      "Criteria:",
      goal.acceptance.map(({ text, state }) => `- ${stateWord[state]}: ${codeText(text)}`),
    ),
    ...list(
      "Tasks:",
      goal.plan.map(({ id }) => `- ${codeText(id)}: ${states.get(id) ?? "never launched"}`),
    ),
    ...(branch === null
      ? []
      : ["", `The work is on the branch ${codeText(branch)}, which this comment does not push.`]),
    "",
    `Posted by Tutti for the goal \`${goal.id}\`, from what it observed itself.`,
  ].join("\n");
}

const stateWord = { open: "not proven", met: "met", unmet: "not met" } as const;

function list(title: string, entries: readonly string[]): string[] {
  return entries.length === 0 ? [] : ["", title, ...entries];
}
