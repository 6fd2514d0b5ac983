// What a start finds in the store: the tasks that are not over, what they spent, waited for and left under way.

import { z } from "zod";

import { newAccount, sum } from "../core/account.ts";
import { Answer } from "../protocol/ask.ts";
import { type LimitReached, raiseLimits } from "./budget-gate.ts";
import type { Kernel } from "./kernel.ts";
import { accountOf, countAsk, liveTask, type LiveTask, payer, rootBudget, type Tree } from "./live.ts";
import { taskName } from "./names.ts";
import type { TaskStatus } from "../protocol/task-status.ts";
import { resultIn } from "./outcome.ts";
import type { AnswerRow, TaskRow, WaitRow } from "../store/store.ts";
import { TaskBody } from "./task-body.ts";
import type { WaitBody } from "./waits.ts";

export interface Recovered {
  /** Not over, parents first. */
  readonly tasks: readonly LiveTask[];
  /** What interrupted steps noted; whatever it names has to be ended before the tasks go on. */
  readonly notes: readonly unknown[];
}

/** Begins the claim of a sleep or a select, which holds a time and is no note of a step: no JSON begins so. */
export const dueMark = "@";

const StoredAnswer = z.object({ value: z.unknown() });

export function recover(kernel: Kernel, adopt: (task: LiveTask) => void): Recovered {
  const { store } = kernel;
  const known = new Map<number, LiveTask>();
  const tasks: LiveTask[] = [];
  for (const row of store.openTasks()) {
    const task = placed(kernel, row, known);
    known.set(row.id, task);
    const result = store.result(row.id);
    if (result === undefined) {
      tasks.push(task);
      task.status = statusAfter(store.lastLife(row.id));
    } else {
      task.status = result.status;
      task.result = resultIn(result, task.name);
    }
  }
  for (const root of [...known.values()].filter((task) => task.parent === undefined)) restoreTree(kernel, root, known);
  for (const task of known.values()) adopt(task);
  return { tasks, notes: store.openNotes().map((note): unknown => JSON.parse(note)) };
}

/** What its events say it was doing when the process ended. */
function statusAfter(lastLife: string | undefined): TaskStatus {
  if (lastLife === undefined || lastLife === "task.created") return "pending";
  return lastLife === "task.input_required" ? "input_required" : "running";
}

function placed(kernel: Kernel, row: TaskRow, known: ReadonlyMap<number, LiveTask>): LiveTask {
  const { store } = kernel;
  const body = TaskBody.parse(JSON.parse(row.body));
  const parent = row.parent === null ? undefined : known.get(row.parent);
  const task = liveTask({
    id: row.id,
    name: taskName(store.salt, row.id),
    run: store.lastRun(row.id)?.id ?? 0,
    fresh: false,
    parent,
    tree: parent?.tree ?? newTree(kernel, row, body),
    kind: row.kind,
    agent: row.agent,
    rights: body.rights,
    createdAt: row.created_at,
    deadline: row.deadline,
  });
  const { budget } = body;
  if (parent === undefined) task.account = accountOf(task.tree.budget);
  else if (budget?.tokens !== undefined || budget?.money_micro_usd !== undefined) {
    task.account = newAccount({ tokens: budget.tokens ?? 0, money: budget.money_micro_usd ?? 0 });
    task.allotted = task.account.limit;
  }
  return task;
}

function newTree(kernel: Kernel, row: TaskRow, body: TaskBody): Tree {
  const tree: Tree = {
    root: row.id,
    budget: rootBudget(body.budget ?? {}),
    tasks: kernel.store.tree(row.id).length,
    slots: kernel.slots.queue(() => tree.budget.concurrency),
    input: undefined,
    startedAt: row.created_at,
    budgetAsk: undefined,
    exhausted: undefined,
  };
  return tree;
}

/** Spending, raised limits, open waits and the time people were asked, as they were when the process ended. */
function restoreTree(kernel: Kernel, root: LiveTask, known: ReadonlyMap<number, LiveTask>): void {
  const { store, clock } = kernel;
  const parents = new Map(store.tree(root.id).map((row) => [row.id, row.parent]));
  const nearest = (id: number): LiveTask => {
    for (let at: number | null | undefined = id; at !== null && at !== undefined; at = parents.get(at)) {
      const task = known.get(at);
      if (task !== undefined) return task;
    }
    return root;
  };
  for (const { task, tokens, money } of store.spentOf(root.id)) {
    const holder = payer(nearest(task));
    holder.account = { ...holder.account, spent: sum(holder.account.spent, { tokens, money }) };
  }
  for (const task of known.values()) {
    if (task.parent === undefined || task.account === undefined || task.tree !== root.tree) continue;
    const holder = payer(task.parent);
    holder.account = { ...holder.account, held: sum(holder.account.held, task.account.limit) };
  }
  const clockMoves: { at: number; task: LiveTask; change: 1 | -1 }[] = [];
  for (const wait of store.waitsOf(root.id)) {
    const task = nearest(wait.task);
    const answer = store.answer(wait.id);
    if (answer === undefined) kernel.waits.adopt(wait, task);
    const body: WaitBody = JSON.parse(wait.body);
    if (body.ask === undefined) continue;
    clockMoves.push({ at: wait.raised_at, task, change: 1 });
    if (answer === undefined) continue;
    clockMoves.push({ at: answer.at, task, change: -1 });
    applyRaise(task, wait, answer);
  }
  for (const move of clockMoves.toSorted((a, b) => a.at - b.at)) countAsk(move.task, move.change, move.at);
  // Nobody worked while no process ran: that time does not count either, unless an open ask has stopped the clock already.
  const down = Math.max(0, clock.now() - (store.lastEventAt(null) ?? clock.now()));
  for (const task of known.values()) if (task.tree === root.tree && task.asks === 0) task.askedFor += down;
}

function applyRaise(task: LiveTask, wait: WaitRow, answer: AnswerRow): void {
  const asked: { ask?: { kind?: string; details?: LimitReached } } = JSON.parse(wait.body);
  if (asked.ask?.kind !== "budget" || asked.ask.details === undefined || answer.kind !== "answered") return;
  const given = Answer.safeParse(StoredAnswer.parse(JSON.parse(answer.body ?? "{}")).value);
  if (given.success && given.data.kind === "budget" && given.data.go_on) {
    raiseLimits(task, asked.ask.details, given.data.limits ?? {});
  }
}
