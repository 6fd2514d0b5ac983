// Context and output limits of known models, by the beginning of their names.

export interface ModelLimits {
  /** The most tokens of input. */
  readonly contextTokens: number | null;
  readonly maxOutputTokens: number;
}

/** The longest output requested when no limit is set; it bounds the cost of a reply. Models can do more. */
const usualOutput = 16_384;
/** Servers of small models refuse a request when input and longest output together do not fit. */
const smallOutput = 4_096;

const known: readonly { readonly prefix: string; readonly context: number; readonly output?: number }[] = [
  { prefix: "anthropic/claude-3-haiku", context: 200_000, output: 4_096 },
  { prefix: "anthropic/claude-fable-5", context: 1_000_000 },
  { prefix: "anthropic/claude-opus-5", context: 1_000_000 },
  { prefix: "anthropic/claude-sonnet-5", context: 1_000_000 },
  { prefix: "anthropic/claude-haiku-5", context: 1_000_000 },
  { prefix: "anthropic/claude-", context: 200_000 },
  // OpenAI bounds the input by itself: the window of 1,050,000 or 400,000 tokens less the longest output of 128,000.
  { prefix: "openai/gpt-6", context: 922_000 },
  { prefix: "openai/gpt-5.4", context: 922_000 },
  { prefix: "openai/gpt-5.5", context: 922_000 },
  { prefix: "openai/gpt-5.6", context: 922_000 },
  { prefix: "openai/gpt-5", context: 272_000 },
  { prefix: "openai/gpt-4.1", context: 1_047_576 },
  { prefix: "openai/gpt-4o", context: 128_000 },
  { prefix: "google/gemini-", context: 1_048_576 },
];

export function limitsOf(name: string, { small }: { readonly small: boolean }): ModelLimits {
  const found = known.find(({ prefix }) => name.startsWith(prefix));
  const maxOutputTokens = found?.output ?? (small ? smallOutput : usualOutput);
  return { contextTokens: found?.context ?? null, maxOutputTokens };
}
