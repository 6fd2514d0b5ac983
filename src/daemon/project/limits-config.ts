// What the user's own config says about the cost of a day: caps over all goals, runs and programs of a state.

import { z } from "zod";

import type { DayLimits } from "../../core/day-ledger.ts";

/** Dollars, exact to a millionth. */
const Money = z
  .number()
  .positive("must be more than 0; leave it out for no cap")
  .max(1_000_000_000)
  .refine((dollars) => Math.round(dollars * 1_000_000) >= 1, "must be at least 0.000001");
const Tokens = z.int().positive("must be more than 0; leave it out for no cap");

export const LimitsConfig = z.strictObject({
  /** In US dollars. */
  money_per_day: Money.optional(),
  tokens_per_day: Tokens.optional(),
});
export type LimitsConfig = z.infer<typeof LimitsConfig>;

export function dayLimitsOf({ money_per_day: money, tokens_per_day: tokens }: LimitsConfig): DayLimits {
  return { tokens, money_micro_usd: money === undefined ? undefined : Math.round(money * 1_000_000) };
}
