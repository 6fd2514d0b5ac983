// Holds tokens, money and time of a tree: a call that would pass a limit waits for a person first (invariant 7).

import { amountOf, raise, reserve, settle, type Amount } from "../core/account.ts";
import type { Answer } from "../protocol/ask.ts";
import { BudgetLimit, type Usage } from "../protocol/budget.ts";
import { TuttiError } from "../protocol/error.ts";
import { askedTime, type Limits, type LiveTask, payer } from "./live.ts";
import type { Kernel } from "./kernel.ts";

export interface LimitReached {
  readonly limit: BudgetLimit;
  readonly allowed: number;
  readonly wanted: number;
  readonly unpriced: boolean;
}

/** Asks the person; resolves to the answer, or undefined when there was none in time. */
export type BudgetAsker = (reached: LimitReached) => Promise<Answer | undefined>;

/** The usual case, without waiting: true when `usage` could be held at once. */
export function tryHold(task: LiveTask, usage: Usage): boolean {
  const holder = payer(task);
  const reservation = reserve(holder.account, usage);
  if (reservation.ok) holder.account = reservation.account;
  return reservation.ok;
}

/** Asks about the limit that is in the way; the caller tries again. Throws `over_budget` when the person says no or nothing. */
export async function passUsage(kernel: Kernel, task: LiveTask, usage: Usage, ask: BudgetAsker): Promise<void> {
  const reservation = reserve(payer(task).account, usage);
  if (reservation.ok) return;
  const { limit, allowed, wanted, unpriced } = reservation;
  await passLimit(kernel, task, { limit, allowed, wanted, unpriced }, ask);
}

export function settleUsage(task: LiveTask, held: Usage, used: Usage): void {
  const holder = payer(task);
  holder.account = settle(holder.account, amountOf(held), amountOf(used));
}

/** Working time of the tree; time in which a person was asked does not count. */
export function isOverTime(kernel: Kernel, task: LiveTask): boolean {
  return workedTime(kernel, task) > task.tree.budget.time_ms;
}

export async function passTime(kernel: Kernel, task: LiveTask, ask: BudgetAsker): Promise<void> {
  while (isOverTime(kernel, task)) {
    const reached = { allowed: task.tree.budget.time_ms, wanted: workedTime(kernel, task), unpriced: false };
    await passLimit(kernel, task, { limit: "time_ms", ...reached }, ask);
  }
}

function workedTime(kernel: Kernel, task: LiveTask): number {
  const now = kernel.clock.now();
  return now - task.tree.startedAt - askedTime(rootOf(task), now);
}

/** To be asked again right before the tasks are made: while one spawn waits, another may take the place. */
export function isOverTasks(task: LiveTask, count: number): boolean {
  return task.tree.tasks + count > task.tree.budget.tasks;
}

export async function passTasks(kernel: Kernel, task: LiveTask, count: number, ask: BudgetAsker): Promise<void> {
  if (!isOverTasks(task, count)) return;
  const { tree } = task;
  const reached = { allowed: tree.budget.tasks, wanted: tree.tasks + count, unpriced: false };
  await passLimit(kernel, task, { limit: "tasks", ...reached }, ask);
}

/** One ask per tree at a time: whoever comes second waits for its outcome and looks again. */
async function passLimit(kernel: Kernel, task: LiveTask, reached: LimitReached, ask: BudgetAsker): Promise<void> {
  const { tree } = task;
  if (tree.exhausted !== undefined) throw tree.exhausted;
  if (tree.budgetAsk !== undefined) {
    await tree.budgetAsk.catch(() => undefined);
    return;
  }
  const { limit, allowed, wanted } = reached;
  kernel.emit(task, "budget.reached", { limit, allowed, wanted });
  const asking = ask(reached).then((answer) => applyAnswer(kernel, task, reached, answer));
  tree.budgetAsk = asking;
  try {
    await asking;
  } finally {
    tree.budgetAsk = undefined;
  }
}

function applyAnswer(kernel: Kernel, task: LiveTask, reached: LimitReached, answer: Answer | undefined): void {
  const goOn = answer?.kind === "budget" && answer.go_on;
  if (!goOn) {
    const why = answer === undefined ? "nobody answered in time" : "the answer was no";
    task.tree.exhausted = new TuttiError(
      "over_budget",
      `the budget is used up (${reached.limit}: ${reached.wanted} wanted, ${reached.allowed} allowed) and ${why}`,
    );
    throw task.tree.exhausted;
  }
  raiseLimits(task, reached, answer.limits ?? {});
  kernel.emit(task, "budget.raised", { budget: task.tree.budget });
  kernel.slots.next();
}

/** Without new limits, "go on" doubles the one that was reached, or what was wanted if that is more. */
export function raiseLimits(task: LiveTask, reached: LimitReached, limits: Limits): void {
  const { tree } = task;
  const implied: Limits = reached.unpriced ? {} : { [reached.limit]: Math.max(reached.allowed * 2, reached.wanted) };
  const wanted = Object.keys(limits).length > 0 ? limits : implied;
  for (const name of BudgetLimit.options) {
    tree.budget[name] = Math.max(tree.budget[name], wanted[name] ?? 0);
  }
  const amount: Partial<Amount> = {
    ...(wanted.tokens === undefined ? {} : { tokens: wanted.tokens }),
    ...(wanted.money_micro_usd === undefined ? {} : { money: wanted.money_micro_usd }),
  };
  const holder = payer(task);
  holder.account = raise(holder.account, amount, { unpriced: reached.unpriced });
}

function rootOf(task: LiveTask): LiveTask {
  let at = task;
  while (at.parent !== undefined) at = at.parent;
  return at;
}
