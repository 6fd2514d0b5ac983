// The board of goals as a page keeps it: what the index said, with the events that the index had not read yet.

import type { Board, TaskEvent } from "../../../src/client/index.ts";
import { isEnded } from "./fold-goal-view.ts";

export type BoardGoal = Board["goals"][number];

/** Events up to the board's `seq` are in it already, so only later ones count. */
export function foldBoard(before: Board, events: readonly TaskEvent[]): Board {
  const fresh = events.filter(({ seq }) => seq > before.seq);
  const seq = fresh.at(-1)?.seq;
  if (seq === undefined) return before;
  const places = new Map(before.goals.map(({ task }, index) => [task, index]));
  const goals = [...before.goals];
  const added: BoardGoal[] = [];
  let changed = false;
  for (const event of fresh) {
    const place = places.get(event.root);
    const goal = place === undefined ? undefined : goals[place];
    if (place === undefined || goal === undefined) {
      if (event.type === "goal.created") added.unshift(createdGoal(event));
      continue;
    }
    const after = foldGoal(goal, event);
    changed ||= after !== goal;
    goals[place] = after;
  }
  if (!changed && added.length === 0) return Object.assign(before, { seq });
  return { ...before, goals: [...added, ...goals], seq };
}

function createdGoal({ at, task, data: { goal } }: Extract<TaskEvent, { type: "goal.created" }>): BoardGoal {
  return {
    goal: goal.id,
    task,
    text: goal.text.slice(0, 400),
    folder: goal.roots[0] ?? null,
    status: goal.status,
    reason: goal.reason,
    progress: 0,
    tasks: { planned: goal.plan.length, launched: 0, running: 0, verified: 0, failed: 0 },
    criteria: { total: goal.acceptance.length, met: 0, unmet: 0 },
    asks: 0,
    tokens: 0,
    money_micro_usd: 0,
    created_at: at,
    updated_at: at,
    ended_at: null,
  };
}

function foldGoal(before: BoardGoal, event: TaskEvent): BoardGoal {
  const goal = { ...before, updated_at: event.at };
  const { tasks } = goal;
  switch (event.type) {
    case "goal.changed":
      return ended({ ...goal, status: event.data.status, reason: event.data.reason }, before, event.at);
    case "task.failed":
      if (event.task !== goal.task) return before;
      return ended({ ...goal, status: "failed", reason: event.data.error.message }, before, event.at);
    case "task.canceled":
      if (event.task !== goal.task) return before;
      return ended({ ...goal, status: "abandoned", reason: event.data.reason }, before, event.at);
    case "goal.planned":
      return { ...goal, tasks: { ...tasks, planned: tasks.planned + event.data.tasks.length } };
    case "goal.linked": {
      const status = goal.status === "pending" ? "in_progress" : goal.status;
      return { ...goal, status, tasks: { ...tasks, launched: tasks.launched + 1 } };
    }
    case "goal.link_changed": {
      if (event.data.state !== "verified") return goal;
      const verified = tasks.verified + 1;
      const progress = Math.min(100, Math.floor((verified * 100) / Math.max(1, tasks.planned)));
      return { ...goal, progress, tasks: { ...tasks, verified } };
    }
    case "ask.raised":
    case "ask.reopened":
      return { ...goal, asks: goal.asks + 1 };
    case "ask.answered":
    case "ask.expired":
    case "ask.withdrawn":
      return { ...goal, asks: Math.max(0, goal.asks - 1) };
    case "step.finished":
      return used(goal, event.data.tokens, event.data.money_micro_usd);
    case "message.added":
      return event.data.step === undefined
        ? before
        : used(goal, event.data.step.tokens, event.data.step.money_micro_usd ?? 0);
    case "budget.settled": {
      const { input_tokens, output_tokens, money_micro_usd } = event.data.spent;
      return used(goal, input_tokens + output_tokens, money_micro_usd ?? 0);
    }
    default:
      return before;
  }
}

function used(goal: BoardGoal, tokens: number, money: number): BoardGoal {
  return { ...goal, tokens: goal.tokens + tokens, money_micro_usd: goal.money_micro_usd + money };
}

/** What an ended goal is told changes nothing. */
function ended(after: BoardGoal, before: BoardGoal, at: number): BoardGoal {
  if (isEnded(before.status)) return before;
  return isEnded(after.status) ? { ...after, asks: 0, ended_at: at } : after;
}
