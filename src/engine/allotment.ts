// What a spawn carves out of its parent's account for children that have limits of their own, and what comes back.

import { type Account, left, newAccount, settle, sum } from "../core/account.ts";
import type { Budget } from "../protocol/budget.ts";
import { TuttiError } from "../protocol/error.ts";
import { type LiveTask, payer } from "./live.ts";

/** An account per child that has limits, or undefined for one that draws on its parent's. All of them or an error. */
export function allot(parent: LiveTask, budgets: readonly (Partial<Budget> | undefined)[]): (Account | undefined)[] {
  const holder = payer(parent);
  let account = holder.account;
  const made = budgets.map((budget) => {
    if (budget?.tokens === undefined && budget?.money_micro_usd === undefined) return undefined;
    const free = left(account);
    const limit = { tokens: budget.tokens ?? free.tokens, money: budget.money_micro_usd ?? free.money };
    if (limit.tokens > free.tokens || limit.money > free.money) {
      throw new TuttiError(
        "refused",
        `the parent has ${free.tokens} tokens and ${free.money} micro-USD left, the child wants ${limit.tokens} and ${limit.money}; give it less`,
      );
    }
    account = {
      ...account,
      held: { tokens: account.held.tokens + limit.tokens, money: account.held.money + limit.money },
    };
    return { ...newAccount(limit), unpriced: account.unpriced };
  });
  holder.account = account;
  return made;
}

/** The child and all below it are over: what it used is booked, the rest is free again. */
export function giveBack(child: LiveTask): void {
  if (child.account === undefined || child.parent === undefined) return;
  const holder = payer(child.parent);
  // A raise may have put the limit above what was carved out; only what was held is given back. What calls under way
  // still hold counts as used: the task ended under them, and they may have been sent.
  const used = sum(child.account.spent, child.account.held);
  holder.account = settle(holder.account, child.allotted ?? child.account.limit, used);
}
