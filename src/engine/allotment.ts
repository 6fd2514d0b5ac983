// What a spawn carves out of the accounts above for children that have limits of their own, and what comes back.

import { type Account, accountKinds, hold, left, newAccount, settle } from "../core/account.ts";
import type { Budget } from "../protocol/task/budget.ts";
import { TuttiError } from "../protocol/error.ts";
import type { Accounts, LiveTask } from "./live-task.ts";
import { payer } from "./payer.ts";

/**
 * The accounts of each child: one for every limit it has, none for what it draws on from above. All of them are held, or
 * none and an error.
 */
export function allot(parent: LiveTask, budgets: readonly (Partial<Budget> | undefined)[]): (Accounts | undefined)[] {
  const made: (Accounts | undefined)[] = budgets.map(() => undefined);
  const held: (() => void)[] = [];
  for (const kind of accountKinds) {
    if (budgets.every((budget) => budget?.[kind] === undefined)) continue;
    const from = payer(parent, kind);
    let account: Account = from.account;
    budgets.forEach((budget, index) => {
      const limit = budget?.[kind];
      if (limit === undefined) return;
      const free = left(account);
      if (limit > free) {
        throw new TuttiError(
          "refused",
          `the parent has ${free} ${unit[kind]} left, the child wants ${limit}; give it less`,
        );
      }
      account = hold(account, limit);
      made[index] = { ...made[index], [kind]: newAccount(limit) };
    });
    held.push(() => from.set(account));
  }
  for (const keep of held) keep();
  return made;
}

const unit = { tokens: "tokens", money_micro_usd: "micro-USD" } as const;

/** The child and all below it are over: what it used is booked above, the rest is free again. */
export function giveBack(child: LiveTask): void {
  if (child.parent === undefined) return;
  for (const kind of accountKinds) {
    const own = child.accounts?.[kind];
    if (own === undefined) continue;
    const above = payer(child.parent, kind);
    // What calls under way still hold counts as used: the task ended under them, and they may have been sent.
    above.set(settle(above.account, own.limit, own.spent + own.held));
  }
}
