// Whose account pays for a task: its own where something was carved out for it, else that of the nearest task above.

import { type Account, type AccountKind, newAccount } from "../core/account.ts";
import { type Budget, BudgetLimit, defaultBudget } from "../protocol/task/budget.ts";
import type { Accounts, LiveTask } from "./live-task.ts";

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
