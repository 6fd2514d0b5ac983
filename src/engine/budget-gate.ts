// Holds tokens, money and time of a tree: a call that would pass a limit waits for a person first (invariant 7).

import { z } from "zod";

import { accountKinds, amountIn, hold, lacking, left, raise, settle, type AccountKind } from "../core/account.ts";
import type { Answer } from "../protocol/task/ask.ts";
import { BudgetLimit, type Usage } from "../protocol/task/budget.ts";
import { TuttiError } from "../protocol/error.ts";
import { TaskId } from "../protocol/ids.ts";
import type { AnswerRow } from "../store/store.ts";
import { type LiveTask, stoppedTime } from "./live-task.ts";
import { type Limits, type Payer, payer, payerAbove } from "./payer.ts";
import type { Recorder } from "./recorder.ts";
import type { Slots } from "./slots.ts";
import { answerIn } from "./wait-body.ts";

/** What a budget ask is about, kept as its details. */
export const LimitReached = z.object({
  limit: BudgetLimit,
  allowed: z.number(),
  wanted: z.number(),
  unpriced: z.boolean(),
  /** Whose limit it is, when something was carved out for that task; the tree's when absent. */
  account: TaskId.optional(),
});
export type LimitReached = z.infer<typeof LimitReached>;

/** Asks the person; resolves when there is an answer, or none in time, and it has been applied. */
export type BudgetAsker = (reached: LimitReached) => Promise<void>;

/** The usual case, without waiting: true when `usage` could be held at once. */
export function tryHold(task: LiveTask, usage: Usage): boolean {
  if (obstacle(task, usage) !== undefined) return false;
  for (const kind of accountKinds) {
    const from = payer(task, kind);
    from.set(hold(from.account, amountIn(usage, kind)));
  }
  return true;
}

/** Asks about the limit that is in the way; the caller tries again. Throws `over_budget` when the person says no or nothing. */
export async function passUsage(recorder: Recorder, task: LiveTask, usage: Usage, ask: BudgetAsker): Promise<void> {
  const reached = obstacle(task, usage);
  if (reached !== undefined) await passLimit(recorder, task, reached, ask);
}

/** False when a limit of tokens or money was passed, by a call that used more than was held for it. */
export function hasUsageLeft(task: LiveTask): boolean {
  return task.tree.exhausted === undefined && obstacle(task, nothing) === undefined;
}

const nothing: Usage = { input_tokens: 0, output_tokens: 0, money_micro_usd: 0 };

export function settleUsage(task: LiveTask, held: Usage, used: Usage): void {
  for (const kind of accountKinds) {
    const from = payer(task, kind);
    from.set(settle(from.account, amountIn(held, kind), amountIn(used, kind)));
  }
}

/** The limit to ask about before the usage can be held. */
function obstacle(task: LiveTask, usage: Usage): LimitReached | undefined {
  for (const kind of accountKinds) {
    const from = payer(task, kind);
    const missing = lacking(from.account, amountIn(usage, kind));
    if (missing > 0) return highestInTheWay(from, kind, missing);
  }
  if (usage.money_micro_usd !== null || task.tree.unpriced) return undefined;
  const { limit, spent, held } = payer(task, "money_micro_usd").account;
  return { limit: "money_micro_usd", allowed: limit, wanted: spent + held, unpriced: true };
}

/** A carve-out can only be raised by what the account above has left; when that is not enough, that one is asked about first. */
function highestInTheWay(from: Payer, kind: AccountKind, missing: number): LimitReached {
  const above = payerAbove(from, kind);
  const missingAbove = above === undefined ? 0 : lacking(above.account, missing);
  if (above !== undefined && missingAbove > 0) return highestInTheWay(above, kind, missingAbove);
  const { limit: allowed } = from.account;
  const whose = above === undefined ? {} : { account: from.owner.name };
  return { limit: kind, allowed, wanted: allowed + missing, unpriced: false, ...whose };
}

/** Working time of the tree; time in which a person was asked does not count. */
export function isOverTime(recorder: Recorder, task: LiveTask): boolean {
  return workedTime(recorder, task) > task.tree.budget.time_ms;
}

export async function passTime(recorder: Recorder, task: LiveTask, ask: BudgetAsker): Promise<void> {
  while (isOverTime(recorder, task)) {
    const reached = { allowed: task.tree.budget.time_ms, wanted: workedTime(recorder, task), unpriced: false };
    await passLimit(recorder, task, { limit: "time_ms", ...reached }, ask);
  }
}

function workedTime(recorder: Recorder, task: LiveTask): number {
  const now = recorder.clock.now();
  return now - task.tree.startedAt - stoppedTime(rootOf(task), now);
}

/** To be asked again right before the tasks are made: while one spawn waits, another may take the place. */
export function isOverTasks(task: LiveTask, count: number): boolean {
  return task.tree.tasks + count > task.tree.budget.tasks;
}

export async function passTasks(recorder: Recorder, task: LiveTask, count: number, ask: BudgetAsker): Promise<void> {
  if (!isOverTasks(task, count)) return;
  const { tree } = task;
  const reached = { allowed: tree.budget.tasks, wanted: tree.tasks + count, unpriced: false };
  await passLimit(recorder, task, { limit: "tasks", ...reached }, ask);
}

/** One ask per tree at a time: whoever comes second waits for its outcome and looks again. */
async function passLimit(recorder: Recorder, task: LiveTask, reached: LimitReached, ask: BudgetAsker): Promise<void> {
  const { tree } = task;
  if (tree.exhausted !== undefined) throw tree.exhausted;
  if (tree.budgetAsk !== undefined) {
    await tree.budgetAsk.catch(() => undefined);
    return;
  }
  const { limit, allowed, wanted } = reached;
  recorder.emit(task, "budget.reached", { limit, allowed, wanted });
  const asking = ask(reached);
  tree.budgetAsk = asking;
  try {
    await asking;
  } finally {
    tree.budgetAsk = undefined;
  }
  if (isExhausted(tree)) throw tree.exhausted;
}

function isExhausted(tree: LiveTask["tree"]): tree is LiveTask["tree"] & { exhausted: TuttiError } {
  return tree.exhausted !== undefined;
}

/** Applies the answer to a budget ask when it comes, whether or not the loop that asked is there to hear it. */
export function decideBudget(
  { recorder, slots }: { readonly recorder: Recorder; readonly slots: Slots },
  task: LiveTask,
  details: unknown,
  answer: AnswerRow,
): void {
  const reached = LimitReached.parse(details);
  if (!applyAnswer(task, reached, answerIn(answer))) return;
  recorder.emit(task, "budget.raised", { budget: task.tree.budget, ...raisedApart(task, reached) });
  slots.next();
}

/** What is set apart for the task that was asked about, as it is now. */
function raisedApart(
  task: LiveTask,
  reached: LimitReached,
): { apart?: { task: TaskId; limit: AccountKind; allowed: number } } {
  const { account: owner, limit } = reached;
  const kind = accountKinds.find((each) => each === limit);
  if (owner === undefined || kind === undefined) return {};
  const account = askedAbout(task, reached, kind)?.account;
  return account === undefined ? {} : { apart: { task: owner, limit: kind, allowed: account.limit } };
}

/** What the answer to a budget ask does, the same when it comes and after a restart; undefined: nobody answered in time. */
export function applyAnswer(task: LiveTask, reached: LimitReached, answer: Answer | undefined): boolean {
  const goOn = answer?.kind === "budget" && answer.go_on;
  if (goOn) raiseLimits(task, reached, answer.limits ?? {});
  else {
    const why = answer === undefined ? "nobody answered in time" : "the answer was no";
    task.tree.exhausted = new TuttiError(
      "over_budget",
      `the budget is used up (${reached.limit}: ${reached.wanted} wanted, ${reached.allowed} allowed) and ${why}`,
    );
  }
  return goOn;
}

/** Without new limits, "go on" doubles the one that was reached, or raises it to what was wanted if that is more. */
function raiseLimits(task: LiveTask, reached: LimitReached, limits: Limits): void {
  const { tree } = task;
  const implied: Limits = reached.unpriced ? {} : { [reached.limit]: Math.max(reached.allowed * 2, reached.wanted) };
  const wanted = Object.keys(limits).length > 0 ? limits : implied;
  for (const name of ["tasks", "depth", "concurrency", "time_ms"] as const) {
    tree.budget[name] = Math.max(tree.budget[name], wanted[name] ?? 0);
  }
  for (const kind of accountKinds) {
    const account = kind === reached.limit ? askedAbout(task, reached, kind) : payer(task, kind);
    if (account !== undefined) raiseAccount(account, kind, wanted[kind] ?? 0);
  }
  tree.unpriced ||= reached.unpriced;
}

/** Undefined when its owner is over: its limit holds nobody back any more. */
function askedAbout(task: LiveTask, reached: LimitReached, kind: AccountKind): Payer | undefined {
  if (reached.account === undefined) return payer(rootOf(task), kind);
  for (let at: LiveTask | undefined = task; at !== undefined; at = at.parent) {
    if (at.name === reached.account) return payer(at, kind);
  }
  return undefined;
}

/** A carve-out grows by no more than is left above, where that is held: the sum never passes the root's limit. */
function raiseAccount(from: Payer, kind: AccountKind, wanted: number): void {
  const above = payerAbove(from, kind);
  if (above === undefined) {
    from.set(raise(from.account, wanted));
    from.owner.tree.budget[kind] = Math.max(from.owner.tree.budget[kind], wanted);
    return;
  }
  const more = Math.min(Math.max(0, wanted - from.account.limit), left(above.account));
  above.set(hold(above.account, more));
  from.set(raise(from.account, from.account.limit + more));
}

function rootOf(task: LiveTask): LiveTask {
  let at = task;
  while (at.parent !== undefined) at = at.parent;
  return at;
}
