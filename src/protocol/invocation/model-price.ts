// What the tokens of a model cost.

import { z } from "zod";

const MicroUsd = z.int().nonnegative();

export const Rates = z.strictObject({
  input: MicroUsd,
  output: MicroUsd,
  /** Input read from the provider's cache; the same as `input` when absent. */
  cached: MicroUsd.optional(),
  /** Input written to the provider's cache; the same as `input` when absent. */
  cache_write: MicroUsd.optional(),
  /** Input written to a cache that lasts an hour; the same as `cache_write` when absent. */
  cache_write_hour: MicroUsd.optional(),
});
export type Rates = z.infer<typeof Rates>;

/** Millionths of a US dollar per million tokens: 3 USD is 3_000_000. */
export const Price = Rates.extend({
  /** Other rates for the whole call once its input is longer than `above` tokens. */
  long: Rates.extend({ above: z.int().positive() }).optional(),
});
export type Price = z.infer<typeof Price>;
