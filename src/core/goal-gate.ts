// Decides whether a goal is reached: every task verified or replaced by a verified one, and every criterion met, each with evidence.

import type { Goal, GoalLink } from "../protocol/task/goal.ts";
import type { TaskId } from "../protocol/ids.ts";

export interface GateVerdict {
  readonly open: boolean;
  /** What keeps the goal from being done, one sentence each; empty when the gate is open. */
  readonly missing: readonly string[];
}

export function goalGate({ links, plan, acceptance }: Pick<Goal, "links" | "plan" | "acceptance">): GateVerdict {
  const missing: string[] = [];
  if (links.length === 0) missing.push("no task was launched for this goal");
  const byTask = new Map(links.map((link) => [link.task, link]));
  for (const link of links) {
    const why = missingFor(link, byTask);
    if (why !== undefined) missing.push(`task ${link.planned} (${link.task}) ${why}`);
  }
  const launched = new Set(links.map(({ planned }) => planned));
  const replaced = new Set(plan.map(({ supersedes }) => supersedes));
  for (const { id } of plan) {
    if (!launched.has(id) && !replaced.has(id)) missing.push(`task ${id} was planned and never launched`);
  }
  for (const { id, text, state, evidence } of acceptance) {
    if (state === "unmet") missing.push(`criterion ${id} is not met: ${text}`);
    else if (state === "open") missing.push(`criterion ${id} is not proven: ${text}`);
    else if (evidence.length === 0) missing.push(`criterion ${id} is called met, but nothing proves it: ${text}`);
  }
  return { open: missing.length === 0, missing };
}

/** Why the link does not count; undefined when it does. */
function missingFor(link: GoalLink, byTask: ReadonlyMap<TaskId, GoalLink>): string | undefined {
  let last = link;
  const passed = new Set<TaskId>();
  while (last.state === "superseded") {
    passed.add(last.task);
    const next = last.superseded_by === null ? undefined : byTask.get(last.superseded_by);
    if (next === undefined || passed.has(next.task)) return "was replaced, but no task took its place";
    last = next;
  }
  const by = last === link ? "" : `was replaced by ${last.planned}, which `;
  if (last.state === "failed") return `${by}failed`;
  if (last.state === "unverified") return `${by}is not verified, and what would prove it is still missing`;
  if (last.state !== "verified") return `${by}is not finished`;
  return last.evidence.length === 0 ? `${by}is called verified, but nothing proves it` : undefined;
}

/** The share of tasks that are verified, from 0 to 100. It is derived and never set. Replaced tasks do not count. */
export function goalProgress({ links }: Pick<Goal, "links">): number {
  const counted = links.filter(({ state }) => state !== "superseded");
  if (counted.length === 0) return 0;
  return Math.round((100 * counted.filter(({ state }) => state === "verified").length) / counted.length);
}
