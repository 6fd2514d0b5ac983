// What a goal is doing now, in one word, derived from its links and its status.

import type { Goal } from "../protocol/task/goal.ts";

/** `verifying`: every task is settled, and the work as a whole is merged and checked. */
type GoalPhase = "planning" | "working" | "verifying" | "waiting" | "ended";

export function goalPhase({ status, links, plan }: Pick<Goal, "status" | "links" | "plan">): GoalPhase {
  if (status === "done" || status === "failed" || status === "abandoned") return "ended";
  if (status === "blocked") return "waiting";
  if (links.some(({ state }) => state === "launched" || state === "running")) return "working";
  const settled = new Map(links.map(({ planned, state }) => [planned, state]));
  const replaced = new Set(plan.map(({ supersedes }) => supersedes));
  const current = plan.filter(({ id }) => !replaced.has(id));
  if (current.length === 0 || current.some(({ id }) => settled.get(id) === "failed")) return "planning";
  return current.every(({ id }) => settled.get(id) === "verified") ? "verifying" : "working";
}
