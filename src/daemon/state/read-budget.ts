// Tells what a task may still use: from the accounts of the engine where this process works on its tree, else from what is recorded.

import { z } from "zod";

import { clockStops, pauseSetting, pausesIn } from "../../engine/pause-switch.ts";
import { rootBudget } from "../../engine/payer.ts";
import type { LiveBudget } from "../../engine/live-budget.ts";
import { taskBodyIn } from "../../engine/task-body.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { Budget } from "../../protocol/task/budget.ts";
import type { BudgetAccount, TaskBudget } from "../../protocol/task/task-budget.ts";
import { isTerminal } from "../../protocol/task/task-status.ts";
import { idInName, taskName } from "../../store/names.ts";
import type { StoreView, TaskListing, TreeLimits } from "../../store/view.ts";

/** The accounts of a task that this process works on; undefined for any other task. */
export type LiveBudgets = (task: TaskId) => LiveBudget | undefined;

const Raised = z.object({
  budget: Budget,
  apart: z.object({ task: z.string(), limit: z.string(), allowed: z.number() }).optional(),
});

/** The newest first. */
async function raisesIn(view: StoreView, root: number): Promise<readonly z.infer<typeof Raised>[]> {
  return (await view.treeLimits(root)).raised.map((body) => Raised.parse(JSON.parse(body)));
}

export function budgetReader(view: StoreView, live: LiveBudgets): (task: TaskId) => Promise<TaskBudget> {
  const { salt } = view;
  return async (task) => {
    const id = idInName(salt, task);
    const row = id === undefined ? undefined : await view.task(id);
    if (row === undefined) throw new TuttiError("not_found", `there is no task ${task}`);
    const root = taskName(salt, row.root);
    const [own, whole] = [live(task), live(root)];
    const tree = whole?.tree ?? (await recordedTree(view, row.root));
    const pays = own?.pays ?? (await recordedPayer(view, row, tree));
    return { task, root, pays, tree, deadline: row.deadline };
  };
}

async function recordedTree(view: StoreView, id: number): Promise<TaskBudget["tree"]> {
  const [root, row, used, limits, unfinished, kept] = await Promise.all([
    view.task(id),
    view.taskRow(id),
    view.treeOf(id),
    view.treeLimits(id),
    view.unfinished(id),
    view.setting(pauseSetting),
  ]);
  if (root === undefined || row === undefined) throw new TuttiError("not_found", "the root of the tree is gone");
  const [last] = limits.raised;
  const budget =
    last === undefined ? rootBudget(taskBodyIn(row.body).budget ?? {}) : Raised.parse(JSON.parse(last)).budget;
  const reserved = unfinished === 0 ? 0 : null;
  const now = unfinished === 0 ? (root.ended_at ?? Date.now()) : Date.now();
  const pauses = clockStops(pausesIn({ setting: () => kept }), root.created_at);
  return {
    tokens: { limit: budget.tokens, used: used.tokens, reserved },
    money_micro_usd: { limit: budget.money_micro_usd, used: used.money, reserved },
    tasks: { limit: budget.tasks, used: limits.tasks },
    time_ms: { limit: budget.time_ms, used: workedTime({ from: root.created_at, to: now }, limits, pauses) },
    depth: budget.depth,
    concurrency: budget.concurrency,
  };
}

/** The clock stands still while any question of the tree is open, and while everything is paused. */
function workedTime(
  { from, to }: { readonly from: number; readonly to: number },
  { asked }: TreeLimits,
  pauses: ReturnType<typeof clockStops>,
): number {
  const moves = [
    ...asked.map((ask) => ({ at: ask.from, change: 1 })),
    ...asked.flatMap((ask) => (ask.to === null ? [] : [{ at: ask.to, change: -1 }])),
    ...pauses,
  ].toSorted((a, b) => a.at - b.at || b.change - a.change);
  let [worked, at, stops] = [0, from, 0];
  for (const move of [...moves, { at: to, change: 0 }]) {
    const until = Math.min(Math.max(move.at, at), to);
    if (stops === 0) worked += until - at;
    [at, stops] = [until, stops + move.change];
  }
  return worked;
}

/** The nearest task, from this one up, for which something was set apart; else the tree. */
async function recordedPayer(view: StoreView, row: TaskListing, tree: TaskBudget["tree"]): Promise<TaskBudget["pays"]> {
  const { salt } = view;
  const ofTree = { owner: taskName(salt, row.root) };
  const pays = {
    tokens: { ...ofTree, ...tree.tokens },
    money_micro_usd: { ...ofTree, ...tree.money_micro_usd },
  };
  const missing = new Set(["tokens", "money_micro_usd"] as const);
  for (let at: TaskListing | undefined = row; at !== undefined && at.parent !== null && missing.size > 0;) {
    const body = await view.taskRow(at.id);
    const budget = body === undefined ? null : taskBodyIn(body.body).budget;
    for (const kind of missing) {
      const limit = budget?.[kind];
      if (limit === undefined) continue;
      pays[kind] = { owner: taskName(salt, at.id), ...(await setApart(view, at, { kind, limit })) };
      missing.delete(kind);
    }
    at = await view.task(at.parent);
  }
  return pays;
}

/** With the last raise that a person agreed to. */
async function setApart(
  view: StoreView,
  { id, root }: TaskListing,
  { kind, limit }: { readonly kind: "tokens" | "money_micro_usd"; readonly limit: number },
): Promise<BudgetAccount> {
  const [{ tokens, money }, below, raises] = await Promise.all([
    view.usedBelow(id),
    view.below(id),
    raisesIn(view, root),
  ]);
  const name = taskName(view.salt, id);
  const raised = raises.find(({ apart }) => apart?.task === name && apart.limit === kind)?.apart?.allowed;
  const used = kind === "tokens" ? tokens : money;
  const isOver = below.every(({ status }) => isTerminal(status));
  return { limit: raised ?? limit, used, reserved: isOver ? 0 : null };
}
