// A goal as a page keeps it: what the service said, changed by the events of its manager.

import type { GoalView, TaskEvent } from "../../../src/client/index.ts";

type GoalEvent = Extract<TaskEvent, { type: `goal.${string}` | "task.failed" | "task.canceled" }>;

/** A goal also ends with the task of its manager. */
function isGoalEvent(event: TaskEvent): event is GoalEvent {
  return event.type.startsWith("goal.") || event.type === "task.failed" || event.type === "task.canceled";
}

/** Telling an event twice changes nothing: each sets something, or adds what is not there yet. */
export function foldGoalView(before: GoalView, events: readonly TaskEvent[]): GoalView {
  const own = events.filter((event): event is GoalEvent => event.task === before.task && isGoalEvent(event));
  if (own.length === 0) return before;
  const goal = {
    ...before,
    acceptance: [...before.acceptance],
    plan: [...before.plan],
    links: [...before.links],
    notes: [...before.notes],
  };
  const planned = new Set(goal.plan.map(({ id }) => id));
  const places = new Map(goal.links.map(({ task }, index) => [task, index]));
  for (const event of own) {
    goal.updated_at = Math.max(goal.updated_at, event.at);
    switch (event.type) {
      case "goal.created":
        break;
      case "goal.criteria_added":
        for (const criterion of event.data.criteria) {
          if (!goal.acceptance.some(({ id }) => id === criterion.id)) goal.acceptance.push(criterion);
        }
        break;
      case "goal.criteria_confirmed":
        goal.acceptance = goal.acceptance.map((each) =>
          event.data.ids.includes(each.id) ? { ...each, confirmed: true } : each,
        );
        break;
      case "goal.planned":
        goal.rounds = Math.max(goal.rounds, event.data.round);
        for (const task of event.data.tasks) {
          if (!planned.has(task.id)) goal.plan.push(task);
          planned.add(task.id);
        }
        break;
      case "goal.linked": {
        const { task, planned: name } = event.data;
        if (places.has(task)) break;
        places.set(task, goal.links.length);
        goal.links.push({ task, planned: name, state: "launched", superseded_by: null, evidence: [] });
        if (goal.status === "pending") goal.status = "in_progress";
        break;
      }
      case "goal.link_changed": {
        const { task, state, superseded_by, evidence } = event.data;
        const place = places.get(task);
        const known = place === undefined ? undefined : goal.links[place];
        if (place !== undefined && known !== undefined)
          goal.links[place] = { ...known, state, superseded_by, evidence };
        break;
      }
      case "goal.criterion_judged":
        goal.acceptance = goal.acceptance.map((each) =>
          each.id === event.data.id ? { ...each, state: event.data.state, evidence: event.data.evidence } : each,
        );
        break;
      case "goal.integrated":
        break;
      case "goal.noted":
        if (!goal.notes.some(({ at, text }) => at === event.at && text === event.data.text)) {
          goal.notes.push({ at: event.at, text: event.data.text });
        }
        break;
      case "task.failed":
        if (!isEnded(goal.status)) [goal.status, goal.reason] = ["failed", event.data.error.message];
        break;
      case "task.canceled":
        if (!isEnded(goal.status)) [goal.status, goal.reason] = ["abandoned", event.data.reason];
        break;
      case "goal.changed":
        if (!isEnded(goal.status)) [goal.status, goal.reason] = [event.data.status, event.data.reason];
        break;
    }
  }
  return { ...goal, progress: progressOf(goal) };
}

export function isEnded(status: GoalView["status"]): boolean {
  return status === "done" || status === "failed" || status === "abandoned";
}

function progressOf(goal: Pick<GoalView, "plan" | "links">): number {
  const { verified, planned } = verifiedTasks(goal);
  return planned === 0 ? 0 : Math.floor((verified * 100) / planned);
}

/** Tasks that another one took the place of do not count. */
export function verifiedTasks({ plan, links }: Pick<GoalView, "plan" | "links">): {
  readonly verified: number;
  readonly planned: number;
} {
  const replaced = new Set(plan.map(({ supersedes }) => supersedes));
  const current = plan.filter(({ id }) => !replaced.has(id));
  const verified = new Set(links.filter(({ state }) => state === "verified").map(({ planned }) => planned));
  return { verified: current.filter(({ id }) => verified.has(id)).length, planned: current.length };
}
