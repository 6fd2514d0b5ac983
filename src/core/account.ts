// An account of tokens or of money: held before a call, settled after, never past its limit (invariant 7).

import type { Usage } from "../protocol/task/budget.ts";

/** Each has its own account, so that a task can be limited in one and draw on its parent's for the other. */
export const accountKinds = ["tokens", "money_micro_usd"] as const;
export type AccountKind = (typeof accountKinds)[number];

/** `held` is reserved for calls under way and carved out for children; `spent` is settled. */
export interface Account {
  readonly limit: number;
  readonly held: number;
  readonly spent: number;
}

export function newAccount(limit: number): Account {
  return { limit, held: 0, spent: 0 };
}

/** An unknown price counts as nothing; whether such a call may go on at all is asked before. */
export function amountIn(usage: Usage, kind: AccountKind): number {
  return kind === "tokens" ? usage.input_tokens + usage.output_tokens : (usage.money_micro_usd ?? 0);
}

/** By how much the amount does not fit; 0 when it does. */
export function lacking(account: Account, amount: number): number {
  return Math.max(0, account.spent + account.held + amount - account.limit);
}

/** Only after `lacking` said that it fits. */
export function hold(account: Account, amount: number): Account {
  return { ...account, held: account.held + amount };
}

/** Gives back what was held and books what was used; that may be more than was held, and is booked all the same. */
export function settle(account: Account, held: number, used: number): Account {
  return { ...account, held: Math.max(0, account.held - held), spent: account.spent + used };
}

export function raise(account: Account, limit: number): Account {
  return { ...account, limit: Math.max(account.limit, limit) };
}

export function left(account: Account): number {
  return Math.max(0, account.limit - account.held - account.spent);
}
