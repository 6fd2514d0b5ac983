// The models part of a project's config: providers, aliases, limits and prices. Keys are never in it, only the names of variables.

import { z } from "zod";

import { callSettings, FallbackModels } from "../protocol/invocation/call-settings.ts";
import { Profile } from "../protocol/toolcalls/dialect.ts";
import { Price } from "../protocol/invocation/model-price.ts";

const Milliseconds = z.int().positive();
const name = z.string().regex(/^[a-z0-9][a-z0-9._-]*$/i, "is letters, digits, dots, dashes and underscores");

const ProviderKind = z.enum(["anthropic", "openai", "google", "openai-compatible"]);
export type ProviderKind = z.infer<typeof ProviderKind>;

const Format = z.enum(["auto", "native", "fenced"]);

const SendReasoning = z.enum(["auto", "always", "never"]);
export type SendReasoning = z.infer<typeof SendReasoning>;

const ProviderSettings = z.strictObject({
  /** May be left out for a built-in provider. */
  kind: ProviderKind.optional(),
  base_url: z.url({ protocol: /^https?$/ }).optional(),
  /** The environment variable that holds the key; null when the server needs no key. */
  key_env: z.string().min(1).nullable().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  format: Format.optional(),
  profile: Profile.optional(),
  /** Whether the reasoning of earlier replies is sent back. `auto`: as the server wants it, as far as that is known. */
  send_reasoning: SendReasoning.optional(),
  /** The most calls at once; fewer run while the provider throttles. */
  concurrency: z.int().positive().max(1000).optional(),
  /** The most time from sending a request to the first byte of its reply. */
  first_byte_ms: Milliseconds.optional(),
  /** The most time between two pieces of a reply. */
  idle_ms: Milliseconds.optional(),
  /** The most time of one try, from sending the request to the end of the reply. */
  total_ms: Milliseconds.optional(),
  /** When the provider asks for a longer pause than this, the call fails instead of waiting. */
  max_wait_ms: Milliseconds.optional(),
});
export type ProviderSettings = z.infer<typeof ProviderSettings>;

const ModelSettings = z.strictObject({
  format: Format.optional(),
  /** How much drift is accepted in calls that the model writes as text. */
  profile: Profile.optional(),
  send_reasoning: SendReasoning.optional(),
  context_tokens: z.int().positive().optional(),
  max_output_tokens: z.int().positive().optional(),
  /** How the model is called by agents that do not set it themselves. */
  ...callSettings,
});
export type ModelSettings = z.infer<typeof ModelSettings>;

export const ModelsConfig = z.strictObject({
  /** The model of agents that name none. */
  default: z.string().min(1).optional(),
  providers: z.record(name, ProviderSettings).default({}),
  /** Short name → `provider/model` or another alias. */
  aliases: z.record(name, z.string().min(1)).default({}),
  /** Model or alias → the models to try next, in this order, when it refuses or cannot be reached. */
  fallbacks: z.record(z.string(), FallbackModels).default({}),
  /** By `provider/model`. */
  models: z.record(z.string(), ModelSettings).default({}),
  /** By `provider/model`; takes precedence over the built-in table. */
  prices: z.record(z.string(), Price).default({}),
});
export type ModelsConfig = z.infer<typeof ModelsConfig>;
