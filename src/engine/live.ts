// What the engine holds in memory of a task that is not over: its place in the tree, its loop, who waits for it.

import { type Account, type AccountKind, newAccount } from "../core/account.ts";
import type { Rights } from "../core/rights.ts";
import { type Budget, BudgetLimit, defaultBudget } from "../protocol/task/budget.ts";
import type { TuttiError } from "../protocol/error.ts";
import type { AgentResult } from "../protocol/invocation/invocation-result.ts";
import type { TaskStatus } from "../protocol/task/task-status.ts";
import type { SlotQueue } from "./slots.ts";

/** What all tasks of one root share. */
export interface Tree {
  /** Set when the root is recorded, never after. */
  root: number;
  budget: Budget;
  /** Tasks ever made in it, finished ones too. */
  tasks: number;
  readonly slots: SlotQueue;
  /** What the root was given, read when the first task of the tree looks at it. */
  given: { readonly input: unknown; readonly config: unknown } | undefined;
  readonly startedAt: number;
  /** The budget ask that is open: one at a time, everybody who hit a limit waits for it. */
  budgetAsk: Promise<void> | undefined;
  /** Set when a person refused to raise a limit: no more work that needs it is begun. */
  exhausted: TuttiError | undefined;
  /** A person agreed to calls whose price is not known. */
  unpriced: boolean;
}

/** The limit of an account is held in the one above it, all of it, so that no sum of them passes the root's. */
export type Accounts = { readonly [K in AccountKind]?: Account };

export interface LiveTask {
  readonly id: number;
  readonly name: string;
  readonly parent: LiveTask | undefined;
  readonly tree: Tree;
  readonly depth: number;
  readonly kind: string;
  /** Row of its current run. */
  run: number;
  /** Made in this process, so nothing can be recorded under the keys of its first run. */
  readonly fresh: boolean;
  /** What was recorded with it, until its loop begins, so that it is not read back at once; a long one is not held. */
  recorded: { readonly body: string; readonly shared: number | null } | undefined;
  readonly createdAt: number;
  readonly deadline: number | null;
  agent: string;
  rights: Rights;
  status: TaskStatus;
  /** Its own where something was carved out for it; for the rest it draws on the nearest above. A root has all. */
  accounts: Accounts | undefined;
  result: AgentResult | undefined;
  /** Children that are not over, or have descendants that are not. */
  children: Set<LiveTask> | undefined;
  /** Called once when the result is there. */
  joiners: Set<(result: AgentResult) => void> | undefined;
  /** Called once when it and all below it are over. */
  onSettled: Set<() => void> | undefined;
  /** A loop of it has not returned. */
  running: boolean;
  /** Ends the loop, or the wait for a slot. */
  stop: ((reason: unknown) => void) | undefined;
  /** Wakes whoever waits for mail. */
  onMail: Set<() => void> | undefined;
  /** The last message a run has recorded as taken, once somebody looked. */
  mailTaken: number | undefined;
  /** Waits that are open. */
  waits: Set<number> | undefined;
  /** Asks open in its subtree and a pause of everything, since when, and how long in all: that time does not count. */
  asks: number;
  askedSince: number;
  askedFor: number;
  callOffDeadline: (() => void) | undefined;
}

type Placed = Pick<
  LiveTask,
  "run" | "fresh" | "id" | "name" | "parent" | "tree" | "kind" | "agent" | "rights" | "createdAt" | "deadline"
>;

export function liveTask(placed: Placed): LiveTask {
  const task: LiveTask = {
    ...placed,
    depth: placed.parent === undefined ? 0 : placed.parent.depth + 1,
    status: "pending",
    accounts: undefined,
    result: undefined,
    children: undefined,
    joiners: undefined,
    onSettled: undefined,
    recorded: undefined,
    running: false,
    stop: undefined,
    onMail: undefined,
    mailTaken: undefined,
    waits: undefined,
    asks: 0,
    askedSince: 0,
    askedFor: 0,
    callOffDeadline: undefined,
  };
  if (placed.parent !== undefined) (placed.parent.children ??= new Set()).add(task);
  return task;
}

/** Some limits, the others unset. */
export type Limits = { readonly [K in BudgetLimit]?: number | undefined };

export function rootBudget(wanted: Limits): Budget {
  const budget = { ...defaultBudget };
  for (const name of BudgetLimit.options) budget[name] = wanted[name] ?? budget[name];
  return budget;
}

export function rootAccounts(budget: Budget): Accounts {
  return { tokens: newAccount(budget.tokens), money_micro_usd: newAccount(budget.money_micro_usd) };
}

/** An account in its place, to be read and replaced. */
export interface Payer {
  readonly owner: LiveTask;
  readonly account: Account;
  set(account: Account): void;
}

/** The account this task draws on: its own or that of the nearest above that has one; a root always has. */
export function payer(task: LiveTask, kind: AccountKind): Payer {
  for (let at: LiveTask | undefined = task; at !== undefined; at = at.parent) {
    const found = payerAt(at, kind);
    if (found !== undefined) return found;
  }
  throw new Error("a tree without an account");
}

function payerAt(owner: LiveTask, kind: AccountKind): Payer | undefined {
  const account = owner.accounts?.[kind];
  if (account === undefined) return undefined;
  const set = (changed: Account): void => {
    owner.accounts = { ...owner.accounts, [kind]: changed };
  };
  return { owner, account, set };
}

/** The account a carve-out came from; undefined for the root's. */
export function payerAbove({ owner }: Payer, kind: AccountKind): Payer | undefined {
  return owner.parent === undefined ? undefined : payer(owner.parent, kind);
}

/** An ask opened (1) or closed (-1) in this task: the clocks above it stop while any is open. */
export function countAsk(task: LiveTask, change: 1 | -1, now: number): void {
  for (let at: LiveTask | undefined = task; at !== undefined; at = at.parent) stopClock(at, change, now);
}

/** One more reason (1) or one less (-1) for which this task's time does not count; the others' are not touched. */
export function stopClock(task: LiveTask, change: 1 | -1, now: number): void {
  if (task.asks === 0) task.askedSince = now;
  task.asks += change;
  if (task.asks === 0) task.askedFor += now - task.askedSince;
}

export function askedTime(task: LiveTask, now: number): number {
  return task.askedFor + (task.asks > 0 ? now - task.askedSince : 0);
}
