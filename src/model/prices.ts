// What models cost: a dated table of prices, and the cost of one call.

import type { Price, Rates } from "../protocol/invocation/model-price.ts";

/** The day the table was last compared with the providers' own lists. */
export const pricesAsOf = "2026-11-16";

const usd = (dollars: number): number => Math.round(dollars * 1_000_000);

function rates(input: number, output: number, cached?: number, cacheWrite?: number): Rates {
  return {
    input: usd(input),
    output: usd(output),
    ...(cached === undefined ? {} : { cached: usd(cached) }),
    ...(cacheWrite === undefined ? {} : { cache_write: usd(cacheWrite) }),
  };
}

/** Cache entries that live five minutes cost a quarter more than input, those that live an hour twice as much. */
function claude(input: number, output: number, cached: number): Rates {
  return { ...rates(input, output, cached, input * 1.25), cache_write_hour: usd(input * 2) };
}

/** GPT models with a long context. Above 272,000 tokens of input: twice the input, one and a half times the output. */
function longGpt(input: number, output: number, cached?: number, cacheWrite?: number): Price {
  const twice = (rate: number | undefined): number | undefined => (rate === undefined ? undefined : rate * 2);
  const long = { above: 272_000, ...rates(input * 2, output * 1.5, twice(cached), twice(cacheWrite)) };
  return { ...rates(input, output, cached, cacheWrite), long };
}

/** Above 200,000 tokens of input: twice the input, one and a half times the output. */
function geminiPro(input: number, output: number, cached: number): Price {
  return { ...rates(input, output, cached), long: { above: 200_000, ...rates(input * 2, output * 1.5, cached * 2) } };
}

/**
 * By `provider/model`, without the date at the end of a model's name. Temporary discounts are not in it, and where sources
 * differ the higher price is: a reservation may be too large, never too small. The price of a model that is not in the table
 * is unknown.
 */
export const priceTable: Readonly<Record<string, Price>> = {
  // platform.claude.com/docs/en/about-claude/pricing, and /docs/en/models/<model>/overview for each model. For Fable 5.2,
  // which is a week old, only resellers that name Anthropic's list were found.
  "anthropic/claude-fable-5-2": claude(8, 40, 0.2),
  "anthropic/claude-fable-5-1": claude(10, 50, 0.25),
  "anthropic/claude-fable-5": claude(10, 50, 1),
  "anthropic/claude-mythos-5-1": claude(10, 50, 0.25),
  "anthropic/claude-mythos-5": claude(10, 50, 1),
  "anthropic/claude-opus-5-5": claude(4, 20, 0.2),
  "anthropic/claude-opus-5": claude(5, 25, 0.5),
  "anthropic/claude-opus-4-8": claude(5, 25, 0.5),
  "anthropic/claude-opus-4-7": claude(5, 25, 0.5),
  "anthropic/claude-opus-4-6": claude(5, 25, 0.5),
  "anthropic/claude-opus-4-5": claude(5, 25, 0.5),
  "anthropic/claude-opus-4-1": claude(15, 75, 1.5),
  // The model's own page says 0.20 for what is read from the cache, later lists say 0.10.
  "anthropic/claude-sonnet-5-5": claude(2, 10, 0.2),
  "anthropic/claude-sonnet-5": claude(2, 10, 0.2),
  "anthropic/claude-sonnet-4-6": claude(3, 15, 0.3),
  "anthropic/claude-sonnet-4-5": claude(3, 15, 0.3),
  "anthropic/claude-haiku-5-5": {
    ...claude(0.1, 0.5, 0.01),
    long: { above: 100_000, ...claude(0.5, 2.5, 0.05) },
  },
  "anthropic/claude-haiku-4-5": claude(1, 5, 0.1),
  // developers.openai.com/api/docs/pricing, and /api/docs/models/<model>; older models as in the catalogue of models.dev.
  "openai/gpt-6-astra": longGpt(10, 50, 1, 12.5),
  "openai/gpt-6.1-sol": longGpt(2, 10, 0.1, 2.5),
  "openai/gpt-6.1-terra": longGpt(1, 5, 0.05, 1.25),
  "openai/gpt-6-sol": longGpt(2, 10, 0.2, 2.5),
  "openai/gpt-6-luna": longGpt(0.1, 0.5, 0.01, 0.125),
  // The list price: 4 and 20 are a promotion that is promised until 2026-11-21. `gpt-5.6` is another name for it.
  "openai/gpt-5.6-sol": longGpt(5, 30, 0.5, 6.25),
  "openai/gpt-5.6": longGpt(5, 30, 0.5, 6.25),
  "openai/gpt-5.6-terra": longGpt(2, 12, 0.2, 2.5),
  "openai/gpt-5.6-luna": longGpt(0.2, 1.2, 0.02, 0.25),
  "openai/gpt-5.5-pro": longGpt(30, 180),
  "openai/gpt-5.5": longGpt(5, 30, 0.5),
  "openai/gpt-5.4-pro": longGpt(30, 180),
  "openai/gpt-5.4": longGpt(2.5, 15, 0.25),
  "openai/gpt-5.4-mini": rates(0.75, 4.5, 0.075),
  "openai/gpt-5.4-nano": rates(0.2, 1.25, 0.02),
  "openai/gpt-5.3-codex": rates(1.75, 14, 0.175),
  "openai/gpt-5.2-pro": rates(21, 168),
  "openai/gpt-5.2": rates(1.75, 14, 0.175),
  "openai/gpt-5.1": rates(1.25, 10, 0.125),
  "openai/gpt-5.1-codex-max": rates(1.25, 10, 0.125),
  "openai/gpt-5.1-codex-mini": rates(0.25, 2, 0.025),
  "openai/gpt-5-pro": rates(15, 120),
  "openai/gpt-5": rates(1.25, 10, 0.125),
  "openai/gpt-5-mini": rates(0.25, 2, 0.025),
  "openai/gpt-5-nano": rates(0.05, 0.4, 0.005),
  "openai/gpt-4.1": rates(2, 8, 0.5),
  "openai/gpt-4.1-mini": rates(0.4, 1.6, 0.1),
  "openai/gpt-4.1-nano": rates(0.1, 0.4, 0.025),
  "openai/gpt-4o": rates(2.5, 10, 1.25),
  "openai/gpt-4o-mini": rates(0.15, 0.6, 0.075),
  "openai/o4-mini": rates(1.1, 4.4, 0.275),
  "openai/o3": rates(2, 8, 0.5),
  // ai.google.dev/gemini-api/docs/pricing. Until 2026-11-30 the models of version 4 cost half of this, and until 2026-12-31
  // so do Flash 3.6, 3.7 and 3.8.
  "google/gemini-4-argon": rates(4, 20, 0.2),
  "google/gemini-4-carbon": rates(4, 20, 0.2),
  "google/gemini-3.8-flash": rates(1.5, 7.5, 0.15),
  "google/gemini-3.7-flash": rates(1.5, 7.5, 0.15),
  "google/gemini-3.6-flash": rates(1.5, 7.5, 0.15),
  "google/gemini-3.5-flash": rates(1.5, 9, 0.15),
  "google/gemini-3.5-flash-lite": rates(0.3, 2.5, 0.03),
  "google/gemini-3.1-pro-preview": geminiPro(2, 12, 0.2),
  "google/gemini-3.1-flash-lite": rates(0.25, 1.5, 0.025),
  "google/gemini-3-pro-preview": geminiPro(2, 12, 0.2),
  "google/gemini-3-flash-preview": rates(0.5, 3, 0.05),
  "google/gemini-2.5-pro": geminiPro(1.25, 10, 0.125),
  "google/gemini-2.5-flash": rates(0.3, 2.5, 0.03),
  "google/gemini-2.5-flash-lite": rates(0.1, 0.4, 0.01),
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
