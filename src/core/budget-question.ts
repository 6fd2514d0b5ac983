// The question that a person reads when a limit of a tree is reached: which limit, where it comes from, and what a yes does.

import { type BudgetLimit, defaultBudget } from "../protocol/task/budget.ts";

export interface ReachedLimit {
  readonly limit: BudgetLimit;
  readonly allowed: number;
  readonly wanted: number;
  /** The price of the call is not known, so nobody can tell whether the limit of money is reached. */
  readonly unpriced: boolean;
  /** The task whose own limit it is; the whole tree's when absent. */
  readonly account?: string | undefined;
}

export function budgetQuestion({ limit, allowed, wanted, unpriced, account }: ReachedLimit): string {
  const isDefault = account === undefined && allowed === defaultBudget[limit];
  const whose = account === undefined ? "of this tree of tasks" : `that ${account} was given`;
  const origin = isDefault ? " It is the default; `budget` of the agent or the invocation sets another." : "";
  if (unpriced) {
    return (
      `What this costs is not known, and the limit ${whose} is ${amount(limit, allowed)}.${origin} ` +
      "`prices` in the config sets the price of a model; a coding agent may not say what it spends. Go on without counting it?"
    );
  }
  return (
    `The limit ${whose} is reached: ${amount(limit, allowed)} are allowed, ${amount(limit, wanted)} would be used.${origin} ` +
    "Go on? A yes doubles the limit."
  );
}

function amount(limit: BudgetLimit, value: number): string {
  switch (limit) {
    case "money_micro_usd":
      return `$${(value / 1_000_000).toFixed(value % 10_000 === 0 ? 2 : 4)}`;
    case "time_ms":
      return `${(value / 60_000).toFixed(value % 60_000 === 0 ? 0 : 1)} minutes`;
    default:
      return `${value.toLocaleString("en-US")} ${limit}`;
  }
}
