// Money and tokens of a tree: held before a call, settled after, carved out for a child; never past the limit (invariant 7).

import type { Usage } from "../protocol/budget.ts";

export interface Amount {
  readonly tokens: number;
  readonly money: number;
}

/** `held` is reserved for calls and allotments under way; `spent` is settled. `unpriced`: calls without a price may go on. */
export interface Account {
  readonly limit: Amount;
  readonly held: Amount;
  readonly spent: Amount;
  readonly unpriced: boolean;
}

export type Reservation =
  | { readonly ok: true; readonly account: Account }
  | {
      readonly ok: false;
      readonly limit: "tokens" | "money_micro_usd";
      readonly allowed: number;
      readonly wanted: number;
      /** The price is not known, so no amount of money can be compared. */
      readonly unpriced: boolean;
    };

const nothing: Amount = { tokens: 0, money: 0 };

export function newAccount(limit: Amount): Account {
  return { limit, held: nothing, spent: nothing, unpriced: false };
}

export function amountOf(usage: Usage): Amount {
  return { tokens: usage.input_tokens + usage.output_tokens, money: usage.money_micro_usd ?? 0 };
}

/** Holds what a call may use at most. */
export function reserve(account: Account, usage: Usage): Reservation {
  const wanted = amountOf(usage);
  const { limit, held, spent } = account;
  const tokens = spent.tokens + held.tokens + wanted.tokens;
  if (tokens > limit.tokens) {
    return { ok: false, limit: "tokens", allowed: limit.tokens, wanted: tokens, unpriced: false };
  }
  const money = spent.money + held.money + wanted.money;
  const unpriced = usage.money_micro_usd === null && !account.unpriced;
  if (money > limit.money || unpriced) {
    return { ok: false, limit: "money_micro_usd", allowed: limit.money, wanted: money, unpriced };
  }
  return { ok: true, account: { ...account, held: sum(held, wanted) } };
}

/** Gives back what was held and books what was used; that may be more than was held, and is booked all the same. */
export function settle(account: Account, held: Amount, used: Amount): Account {
  return { ...account, held: difference(account.held, held), spent: sum(account.spent, used) };
}

export function raise(
  account: Account,
  limit: Partial<Amount>,
  options: { readonly unpriced?: boolean } = {},
): Account {
  return {
    ...account,
    limit: {
      tokens: Math.max(account.limit.tokens, limit.tokens ?? 0),
      money: Math.max(account.limit.money, limit.money ?? 0),
    },
    unpriced: account.unpriced || options.unpriced === true,
  };
}

export function left(account: Account): Amount {
  return difference(difference(account.limit, account.held), account.spent);
}

export function sum(a: Amount, b: Amount): Amount {
  return { tokens: a.tokens + b.tokens, money: a.money + b.money };
}

function difference(a: Amount, b: Amount): Amount {
  return { tokens: Math.max(0, a.tokens - b.tokens), money: Math.max(0, a.money - b.money) };
}
