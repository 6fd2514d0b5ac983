// How a user sets up models: providers, aliases, what is known of a model. Keys are never in it, only the names of variables.

import { z } from "zod";

import { Price } from "./prices.ts";

const Milliseconds = z.int().positive();
const name = z.string().regex(/^[a-z0-9][a-z0-9._-]*$/i, "is letters, digits, dots, dashes and underscores");

const ProviderKind = z.enum(["anthropic", "openai", "google", "openai-compatible"]);
export type ProviderKind = z.infer<typeof ProviderKind>;

const Format = z.enum(["auto", "native", "fenced"]);

const ProviderSettings = z.strictObject({
  /** May be left out for a provider that is built in. */
  kind: ProviderKind.optional(),
  base_url: z.url({ protocol: /^https?$/ }).optional(),
  /** The environment variable that holds the key; null when the server wants none. */
  key_env: z.string().min(1).nullable().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  format: Format.optional(),
  /** The most calls at once; fewer when the provider asks for it. */
  concurrency: z.int().positive().max(1000).optional(),
  /** From sending a request to the first sign of a reply. */
  first_byte_ms: Milliseconds.optional(),
  /** Between two pieces of a reply. */
  idle_ms: Milliseconds.optional(),
  /** One try, from sending to the end of the reply. */
  total_ms: Milliseconds.optional(),
  /** A provider that asks for a longer pause than this fails the call instead. */
  max_wait_ms: Milliseconds.optional(),
});
export type ProviderSettings = z.infer<typeof ProviderSettings>;

const ModelSettings = z.strictObject({
  format: Format.optional(),
  context_tokens: z.int().positive().optional(),
  max_output_tokens: z.int().positive().optional(),
});

export const ModelsConfig = z.strictObject({
  /** The model of an agent that names none. */
  default: z.string().min(1).optional(),
  providers: z.record(name, ProviderSettings).default({}),
  /** Short name → `provider/model` or another alias. */
  aliases: z.record(name, z.string().min(1)).default({}),
  /** By `provider/model`. */
  models: z.record(z.string(), ModelSettings).default({}),
  /** By `provider/model`; goes before the built-in table. */
  prices: z.record(z.string(), Price).default({}),
});
export type ModelsConfig = z.infer<typeof ModelsConfig>;
