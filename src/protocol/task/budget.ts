// What a tree of tasks may use, what it has used, and the finite limits that hold when nobody set any.

import { z } from "zod";

const Count = z.int().nonnegative();

/** Money is whole millionths of a US dollar, so that sums of many small prices stay exact. */
export const Budget = z.strictObject({
  tokens: Count,
  money_micro_usd: Count,
  /** Tasks in the whole tree, the root included. */
  tasks: Count,
  /** Levels below the root. */
  depth: Count,
  /** Tasks that run at the same time; one that waits holds no slot. */
  concurrency: z.int().positive(),
  /** Working time; waiting for a person does not count. */
  time_ms: Count,
});
export type Budget = z.infer<typeof Budget>;

export const BudgetLimit = Budget.keyof();
export type BudgetLimit = z.infer<typeof BudgetLimit>;

export const defaultBudget: Budget = {
  tokens: 5_000_000,
  money_micro_usd: 10_000_000,
  tasks: 100,
  depth: 4,
  concurrency: 8,
  time_ms: 4 * 60 * 60 * 1000,
};

/** `money_micro_usd` is null where the price of the model is not known. */
export const Usage = z.strictObject({
  input_tokens: Count,
  output_tokens: Count,
  money_micro_usd: Count.nullable(),
});
export type Usage = z.infer<typeof Usage>;
