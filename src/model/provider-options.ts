// The settings of a request that only its provider knows: what is stored, what is cached, how thinking is shown and kept.

import { createHash } from "node:crypto";

import { z } from "zod";

import type { Effort } from "../protocol/invocation/call-settings.ts";
import type { ModelRequest } from "../model-port.ts";
import type { CallOptions } from "./language-model.ts";
import type { Setting } from "./refused-setting.ts";
import type { ResolvedModel } from "./resolve-model.ts";
import { thinkingBinding } from "./thinking-binding.ts";

type ProviderOptions = NonNullable<CallOptions["providerOptions"]>;
type Options = ProviderOptions[string];

/** `without`: settings that the model is known not to take. */
export function callSettingsOf(
  request: ModelRequest,
  model: ResolvedModel,
  without: ReadonlySet<Setting>,
): Pick<CallOptions, "reasoning" | "temperature" | "providerOptions"> {
  const { settings } = model;
  const effort = without.has("effort") ? undefined : (request.effort ?? settings.effort);
  const temperature = without.has("temperature") ? undefined : (request.temperature ?? settings.temperature);
  const given = settings.provider_options ?? request.providerOptions;
  const own = given === undefined ? {} : OwnOptions.parse({ ...settings.provider_options, ...request.providerOptions });
  const all = { ...usualOptions(request, model, without), ...thinkingOptions(model, effort, without), ...own };
  return {
    ...(effort === undefined ? {} : { reasoning: effort }),
    ...(temperature === undefined ? {} : { temperature }),
    providerOptions: Object.keys(all).length === 0 ? {} : { [optionsKey(model)]: all },
  };
}

const OwnOptions = z.record(z.string(), z.json());

/** The name under which the provider's package looks for its options. */
function optionsKey({ provider: { kind, name } }: ResolvedModel): string {
  return kind === "openai-compatible" ? name : kind;
}

function usualOptions(request: ModelRequest, model: ResolvedModel, without: ReadonlySet<Setting>): Options {
  switch (model.provider.kind) {
    case "anthropic":
      return {
        includePings: true,
        ...(hasClassifiers(model) && !without.has("fallbacks") ? { fallbacks: "default" } : {}),
      };
    case "openai":
      return { store: false, promptCacheKey: cacheKey(request) };
    case "openai-compatible":
      return cachesOnRequest(model) ? { cache_control: { ...cacheControl(request) } } : {};
    case "google":
      return {};
  }
}

/** Whether Anthropic may block a request of the model by a classifier, and then offers to ask another model at once. */
function hasClassifiers({ id, provider }: ResolvedModel): boolean {
  return hostOf(provider) === "api.anthropic.com" && thinksByDefault(id);
}

/** Asks for summaries of the thinking where a model thinks anyway: without them a long turn looks silent. */
function thinkingOptions(model: ResolvedModel, effort: Effort | undefined, without: ReadonlySet<Setting>): Options {
  const { id, provider } = model;
  // Without thinking there is nothing to show, and the package sends what switches it off.
  if (effort === "none") return {};
  const shown = !without.has("summary");
  if (provider.kind === "anthropic") {
    const binding = thinkingBinding(model);
    if (shown && thinksByDefault(id)) return { thinking: { type: "adaptive", display: "summarized", ...binding } };
    return binding === undefined ? {} : { thinking: { ...binding } };
  }
  if (!shown) return {};
  if (provider.kind === "openai") return { reasoningSummary: "auto" };
  return provider.kind === "google" && /^gemini-(?!1|2\.0)/.test(id)
    ? { thinkingConfig: { includeThoughts: true } }
    : {};
}

/** Claude models from version 5 on think unless they are told not to; for older ones an effort switches it on. */
function thinksByDefault(id: string): boolean {
  return Number(/^claude-[a-z]+-(\d+)(?:-|$)/.exec(id)?.[1] ?? 0) >= 5;
}

/** How long the provider keeps what it has cached: five minutes, or an hour when the agent waits for others. */
export function cacheControl({ waits }: ModelRequest): { readonly type: "ephemeral"; readonly ttl?: "1h" } {
  return waits === true ? { type: "ephemeral", ttl: "1h" } : { type: "ephemeral" };
}

/** Whether what the provider writes to its cache for this request stays there for an hour, and costs more for it. */
export function cachesForAnHour({ waits }: ModelRequest, model: ResolvedModel): boolean {
  return waits === true && (model.provider.kind === "anthropic" || cachesOnRequest(model));
}

/**
 * Requests with the same key go to the same servers of OpenAI, which have the conversation in their cache. The first
 * message stays the same as long as the conversation lives, so its id stands for the conversation.
 */
function cacheKey({ agent, messages }: ModelRequest): string {
  const conversation = [agent, messages[0]?.id ?? ""];
  return createHash("sha256").update(JSON.stringify(conversation)).digest("base64url").slice(0, 32);
}

/** OpenRouter caches the prompts of Claude models only when the request asks for it. */
function cachesOnRequest({ id, provider }: ResolvedModel): boolean {
  return /(?:^|\.)openrouter\.ai$/.test(hostOf(provider)) && id.startsWith("anthropic/");
}

function hostOf({ baseUrl }: ResolvedModel["provider"]): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).hostname : "";
}
