// Context and output limits of known models, by the beginning of their names.

import type { ModelRequest } from "../model-port.ts";
import type { Effort } from "../protocol/invocation/call-settings.ts";
import type { ResolvedModel } from "./resolve-model.ts";

export interface ModelLimits {
  /** The most tokens of input. */
  readonly contextTokens: number | null;
  /** The longest reply that is asked for at first. The thinking of the model is part of it. */
  readonly maxOutputTokens: number;
  /** The longest reply that the model can give; it is asked for once a reply was cut. */
  readonly mostOutputTokens: number;
}

/** The longest output requested at first. It is reserved in the budget, so it is not the most that a model can do. */
const firstOutput = 32_000;
/** At first, for a model on a server that nobody knows: room for some thinking, without filling a small context. */
const firstOfUnknown = 16_384;
const mostOfUnknown = 65_536;

interface Known {
  readonly prefix: string;
  readonly context: number;
  readonly output: number;
}

/**
 * As of 2026-11-16, from the providers' pages on their models: platform.claude.com/docs/en/models, developers.openai.com/api/docs/models
 * and ai.google.dev/gemini-api/docs/models. The first that fits counts. A test compares the output of Claude models with the
 * catalogue of the provider's package.
 */
const known: readonly Known[] = [
  { prefix: "anthropic/claude-3-haiku", context: 200_000, output: 4_096 },
  { prefix: "anthropic/claude-fable-5", context: 1_000_000, output: 128_000 },
  { prefix: "anthropic/claude-mythos-5", context: 1_000_000, output: 128_000 },
  { prefix: "anthropic/claude-opus-5", context: 1_000_000, output: 128_000 },
  { prefix: "anthropic/claude-sonnet-5", context: 1_000_000, output: 128_000 },
  { prefix: "anthropic/claude-haiku-5", context: 1_000_000, output: 128_000 },
  { prefix: "anthropic/claude-sonnet-4-6", context: 1_000_000, output: 128_000 },
  { prefix: "anthropic/claude-opus-4-6", context: 1_000_000, output: 128_000 },
  { prefix: "anthropic/claude-opus-4-7", context: 1_000_000, output: 128_000 },
  { prefix: "anthropic/claude-opus-4-8", context: 1_000_000, output: 128_000 },
  { prefix: "anthropic/claude-opus-4-5", context: 200_000, output: 64_000 },
  { prefix: "anthropic/claude-haiku-4-5", context: 200_000, output: 64_000 },
  { prefix: "anthropic/claude-sonnet-4", context: 200_000, output: 64_000 },
  { prefix: "anthropic/claude-opus-4", context: 200_000, output: 32_000 },
  { prefix: "anthropic/claude-3", context: 200_000, output: 4_096 },
  // A Claude model that is not known yet: the context that all of them have.
  { prefix: "anthropic/claude-", context: 200_000, output: 128_000 },
  // OpenAI bounds the input by itself: the window of 1,050,000 or 400,000 tokens less the longest output of 128,000.
  { prefix: "openai/gpt-6", context: 922_000, output: 128_000 },
  { prefix: "openai/gpt-5.4-mini", context: 272_000, output: 128_000 },
  { prefix: "openai/gpt-5.4-nano", context: 272_000, output: 128_000 },
  { prefix: "openai/gpt-5.4", context: 922_000, output: 128_000 },
  { prefix: "openai/gpt-5.5", context: 922_000, output: 128_000 },
  { prefix: "openai/gpt-5.6", context: 922_000, output: 128_000 },
  { prefix: "openai/gpt-5.3-codex-spark", context: 100_000, output: 32_000 },
  // No source was found for 5.3; it is taken to be as its predecessors.
  { prefix: "openai/gpt-5.3-chat", context: 111_000, output: 16_384 },
  { prefix: "openai/gpt-5.2-chat", context: 111_000, output: 16_384 },
  { prefix: "openai/gpt-5.1-chat", context: 111_000, output: 16_384 },
  { prefix: "openai/gpt-5-chat", context: 111_000, output: 16_384 },
  { prefix: "openai/gpt-5", context: 272_000, output: 128_000 },
  { prefix: "openai/gpt-4.1", context: 1_047_576, output: 32_768 },
  { prefix: "openai/gpt-4o", context: 128_000, output: 16_384 },
  { prefix: "openai/o", context: 200_000, output: 100_000 },
  { prefix: "google/gemini-2.0", context: 1_048_576, output: 8_192 },
  // Input and output share 1,048,576 tokens; a reply has at most 65,536 of them.
  { prefix: "google/gemini-4", context: 983_040, output: 65_536 },
  { prefix: "google/gemini-", context: 1_048_576, output: 65_536 },
];

/** `context`: what the config says about the model, if it does. */
export function limitsOf(name: string, context?: number): ModelLimits {
  const own = makersName(name);
  const found = known.find(({ prefix }) => own.startsWith(prefix));
  const contextTokens = context ?? found?.context ?? null;
  // Servers count the longest reply as part of the request, so in a small context it must leave room for the conversation.
  const room = Math.ceil((context ?? Infinity) / 4);
  const most = Math.min(found?.output ?? mostOfUnknown, room);
  const maxOutputTokens = Math.min(most, found === undefined ? firstOfUnknown : firstOutput);
  return { contextTokens, maxOutputTokens, mostOutputTokens: most };
}

/** With one of these efforts a model thinks so much that the usual first limit would often cut its reply. */
const longThinking: ReadonlySet<Effort | undefined> = new Set<Effort | undefined>(["xhigh", "max"]);

/** The longest reply that a request asks for. */
export function longestReply(request: ModelRequest, model: ResolvedModel): number {
  if (request.maxOutputTokens !== undefined) return request.maxOutputTokens;
  const { maxOutputTokens, mostOutputTokens = maxOutputTokens, settings } = model;
  const twice = Math.min(mostOutputTokens, maxOutputTokens * 2);
  return longThinking.has(request.effort ?? settings.effort) ? twice : maxOutputTokens;
}

/** OpenRouter has the models of other makers under their names, with dots in the versions of Claude. */
function makersName(name: string): string {
  const own = name.startsWith("openrouter/") ? name.slice("openrouter/".length) : name;
  return own.startsWith("anthropic/") ? own.replaceAll(".", "-") : own;
}
