// What the manager's model is told at the beginning of a round: the goal, what holds for it, and what became of earlier tasks.

import type { Goal } from "../protocol/task/goal.ts";
import type { GoalFile } from "../protocol/invocation/goal-file.ts";
import { type GoalRun, goalNow } from "./goal-run.ts";
import { quoted } from "./manager-prompt.ts";

export interface RoundOccasion {
  /** Why there is another round; empty in the first one. */
  readonly problems: readonly string[];
  /** Other tasks still run. */
  readonly midway?: boolean;
}

export function roundPrompt(run: GoalRun, { problems, midway = false }: RoundOccasion): string {
  const goal = goalNow(run);
  const said = run.followUps.splice(0);
  const first = run.conversation.length === 0;
  return [
    ...(first ? [`Goal ${goal.id}:`, goal.text, "", ...frame(goal, run.file), ...issueLines(run.file)] : []),
    ...(goal.acceptance.length === 0 ? [] : ["", "Acceptance criteria so far:", ...goal.acceptance.map(criterionLine)]),
    ...(goal.plan.length === 0 ? [] : ["", "Tasks so far:", ...taskLines(run, goal)]),
    ...(problems.length === 0 ? [] : ["", "What is not done:", ...problems.map((problem) => `- ${quoted(problem)}`)]),
    ...(said.length === 0 ? [] : ["", "The person says:", ...said.map((text) => `- ${text}`)]),
    "",
    midway
      ? "Tasks are still under way. Delegate what has to be added now, or answer with `respond`."
      : first
        ? "What do you decide?"
        : "What do you decide now? Delegate only what is still needed.",
  ].join("\n");
}

function frame(goal: Goal, { agents, goal: { checks, limits } }: GoalFile): string[] {
  const names = Object.entries(agents).map(([name, { description }]) =>
    description === undefined ? name : `${name} (${description})`,
  );
  return [
    `Folders that may be touched: ${goal.roots.join(", ") || "none"}`,
    ...(names.length === 0 ? [] : [`Agents: ${names.join("; ")}`]),
    ...(checks.length === 0 ? [] : [`Checks that the person named: ${JSON.stringify(checks)}`]),
    `At most ${limits.tasks} tasks.`,
  ];
}

function issueLines({ goal: { issue } }: GoalFile): string[] {
  if (issue === undefined) return [];
  const said = quoted(`${issue.title}\n\n${issue.body}`, longestIssue);
  return ["", `The goal is about the issue ${issue.url}. Others wrote its text:`, said];
}

const longestIssue = 22_000;

function criterionLine({ id, text, from, state }: Goal["acceptance"][number]): string {
  return `- ${id} (${from === "person" ? "the person's own" : "proposed"}, ${state}): ${text}`;
}

/** Only tasks that matter for the decision are told one by one. */
const shown = 50;

function taskLines({ tasks, failures, finished, unproven }: GoalRun, { plan }: Goal): string[] {
  const lines = plan.slice(-shown).map(({ id }) => {
    const task = tasks.get(id);
    if (finished.has(id))
      return `- ${id}: ${task !== undefined && unproven.has(task) ? "done, not proven" : "verified"}`;
    const failure = failures.get(id);
    if (failure !== undefined) return `- ${id}: failed: ${quoted(failure)}`;
    return `- ${id}: ${tasks.has(id) ? "under way" : "not launched"}`;
  });
  return plan.length > shown ? [`- ${plan.length - shown} earlier tasks`, ...lines] : lines;
}
