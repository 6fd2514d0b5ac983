// What models cost: a dated table of prices, and the cost of one call.

import { z } from "zod";

const MicroUsd = z.int().nonnegative();

const Rates = z.strictObject({
  input: MicroUsd,
  output: MicroUsd,
  /** Input read from the provider's cache; the same as `input` when absent. */
  cached: MicroUsd.optional(),
  /** Input written to the provider's cache; the same as `input` when absent. */
  cache_write: MicroUsd.optional(),
  /** Input written to a cache that lasts an hour; the same as `cache_write` when absent. */
  cache_write_hour: MicroUsd.optional(),
});

/** Millionths of a US dollar per million tokens: 3 USD is 3_000_000. */
export const Price = Rates.extend({
  /** Other rates for the whole call once its input is longer than `above` tokens. */
  long: Rates.extend({ above: z.int().positive() }).optional(),
});
export type Price = z.infer<typeof Price>;

/** The day the table was last compared with the providers' own lists. */
export const pricesAsOf = "2026-11-16";

const usd = (dollars: number): number => Math.round(dollars * 1_000_000);

function rates(input: number, output: number, cached: number, cacheWrite?: number): z.infer<typeof Rates> {
  return {
    input: usd(input),
    output: usd(output),
    cached: usd(cached),
    ...(cacheWrite === undefined ? {} : { cache_write: usd(cacheWrite) }),
  };
}

/** Cache entries that live five minutes cost a quarter more than input, those that live an hour twice as much. */
function claude(input: number, output: number, cached: number): z.infer<typeof Rates> {
  return { ...rates(input, output, cached, input * 1.25), cache_write_hour: usd(input * 2) };
}

/** Above 272,000 tokens of input: twice the input, one and a half times the output. */
function gpt6(input: number, output: number, cached: number, cacheWrite?: number): Price {
  const twice = cacheWrite === undefined ? undefined : cacheWrite * 2;
  const long = { above: 272_000, ...rates(input * 2, output * 1.5, cached * 2, twice) };
  return { ...rates(input, output, cached, cacheWrite), long };
}

/**
 * By `provider/model`, without the date at the end of a model's name. Temporary discounts are not in it: a reservation may
 * be too large, never too small. The price of a model that is not in the table is unknown.
 */
export const priceTable: Readonly<Record<string, Price>> = {
  "anthropic/claude-fable-5-2": claude(8, 40, 0.2),
  "anthropic/claude-fable-5-1": claude(10, 50, 0.25),
  "anthropic/claude-fable-5": claude(10, 50, 1),
  "anthropic/claude-opus-5-5": claude(4, 20, 0.2),
  "anthropic/claude-opus-5": claude(5, 25, 0.5),
  "anthropic/claude-opus-4-8": claude(5, 25, 0.5),
  "anthropic/claude-opus-4-7": claude(5, 25, 0.5),
  "anthropic/claude-opus-4-6": claude(5, 25, 0.5),
  "anthropic/claude-opus-4-5": claude(5, 25, 0.5),
  "anthropic/claude-opus-4-1": claude(15, 75, 1.5),
  "anthropic/claude-sonnet-5-5": claude(2, 10, 0.1),
  "anthropic/claude-sonnet-5": claude(2, 10, 0.2),
  "anthropic/claude-sonnet-4-6": claude(3, 15, 0.3),
  "anthropic/claude-sonnet-4-5": claude(3, 15, 0.3),
  "anthropic/claude-haiku-5-5": {
    ...claude(0.1, 0.5, 0.01),
    long: { above: 100_000, ...claude(0.5, 2.5, 0.05) },
  },
  "anthropic/claude-haiku-4-5": claude(1, 5, 0.1),
  "openai/gpt-6-astra": gpt6(10, 50, 1, 12.5),
  "openai/gpt-6.1-sol": gpt6(2, 10, 0.1, 2.5),
  "openai/gpt-6.1-terra": gpt6(1, 5, 0.05, 1.25),
  "openai/gpt-6-sol": gpt6(2, 10, 0.2, 2.5),
  "openai/gpt-6-luna": gpt6(0.1, 0.5, 0.01, 0.125),
  "openai/gpt-5.6-sol": gpt6(4, 20, 0.4, 5),
  "openai/gpt-5.6-terra": gpt6(2, 12, 0.2, 2.5),
  "openai/gpt-5.6-luna": gpt6(0.2, 1.2, 0.02, 0.25),
  "openai/gpt-5.5": gpt6(5, 30, 0.5),
  "openai/gpt-5.4": gpt6(2.5, 15, 0.25),
  "openai/gpt-5.4-mini": rates(0.75, 4.5, 0.075),
  "openai/gpt-5.4-nano": rates(0.2, 1.25, 0.02),
  "openai/gpt-5": rates(1.25, 10, 0.125),
  "openai/gpt-5-mini": rates(0.25, 2, 0.025),
  "openai/gpt-5-nano": rates(0.05, 0.4, 0.005),
  "openai/gpt-4.1": rates(2, 8, 0.5),
  "openai/gpt-4.1-mini": rates(0.4, 1.6, 0.1),
  "openai/gpt-4.1-nano": rates(0.1, 0.4, 0.025),
  "openai/gpt-4o": rates(2.5, 10, 1.25),
  "openai/gpt-4o-mini": rates(0.15, 0.6, 0.075),
  "google/gemini-4-argon": rates(4, 20, 0.2),
  "google/gemini-4-carbon": rates(4, 20, 0.2),
  "google/gemini-3.8-flash": rates(1.5, 7.5, 0.15),
  "google/gemini-2.5-pro": { ...rates(1.25, 10, 0.31), long: { above: 200_000, ...rates(2.5, 15, 0.625) } },
  "google/gemini-2.5-flash": rates(0.3, 2.5, 0.075),
  "google/gemini-2.5-flash-lite": rates(0.1, 0.4, 0.025),
};

/** `-20260115`, `-2026-01-15` or `-latest` at the end of a name: the same model at the same price. */
const dated = /-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/;

/** From the first table that has the name, or else from the first that has it without its date. Null when no table has it. */
export function priceOf(name: string, tables: readonly Readonly<Record<string, Price>>[]): Price | null {
  for (const key of [name, name.replace(dated, "")]) {
    for (const table of tables) if (Object.hasOwn(table, key)) return table[key] ?? null;
  }
  return null;
}

export interface TokenCounts {
  /** The whole input, including tokens read from the cache and written to it. */
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWritten: number;
  /** Whether what was written to the cache stays there for an hour. */
  readonly forAnHour?: boolean;
}

/** In whole micro-USD, rounded up; null when the price is unknown. */
export function costOf(price: Price | null, tokens: TokenCounts): number | null {
  if (price === null) return null;
  const rate = price.long !== undefined && tokens.input > price.long.above ? price.long : price;
  const plain = Math.max(0, tokens.input - tokens.cacheRead - tokens.cacheWritten);
  const write = (tokens.forAnHour === true ? rate.cache_write_hour : undefined) ?? rate.cache_write ?? rate.input;
  const sum =
    plain * rate.input +
    tokens.cacheRead * (rate.cached ?? rate.input) +
    tokens.cacheWritten * write +
    tokens.output * rate.output;
  return Math.ceil(sum / 1_000_000);
}
