// An account of tokens or money: an amount is held before a call and settled after it, within the limit (invariant 7).

import type { Usage } from "../protocol/task/budget.ts";

/** Two accounts, so that a task can have its own limit for one and use its parent's account for the other. */
export const accountKinds = ["tokens", "money_micro_usd"] as const;
export type AccountKind = (typeof accountKinds)[number];

/** `held` is reserved for running calls and for the budgets of children; `spent` is settled. */
export interface Account {
  readonly limit: number;
  readonly held: number;
  readonly spent: number;
}

export function newAccount(limit: number): Account {
  return { limit, held: 0, spent: 0 };
}

/** An unknown price counts as 0; whether such a call may be made at all is decided before. */
export function amountIn(usage: Usage, kind: AccountKind): number {
  return kind === "tokens" ? usage.input_tokens + usage.output_tokens : (usage.money_micro_usd ?? 0);
}

/** By how much the amount exceeds the limit; 0 if it fits. */
export function lacking(account: Account, amount: number): number {
  return Math.max(0, account.spent + account.held + amount - account.limit);
}

/** The amount must fit; see `lacking`. */
export function hold(account: Account, amount: number): Account {
  return { ...account, held: account.held + amount };
}

/** Releases what was held and books what was used, even if that is more than was held. */
export function settle(account: Account, held: number, used: number): Account {
  return { ...account, held: Math.max(0, account.held - held), spent: account.spent + used };
}

export function raise(account: Account, limit: number): Account {
  return { ...account, limit: Math.max(account.limit, limit) };
}

export function left(account: Account): number {
  return Math.max(0, account.limit - account.held - account.spent);
}
