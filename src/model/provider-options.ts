// The settings of a request that only its provider knows: what is stored, what is cached, what happens to old thinking.

import { createHash } from "node:crypto";

import type { ModelRequest } from "../ports.ts";
import type { CallOptions } from "./language-model.ts";
import type { ResolvedModel } from "./resolve-model.ts";
import { thinkingBinding } from "./thinking-binding.ts";

export function providerOptionsOf(
  request: ModelRequest,
  model: ResolvedModel,
): NonNullable<CallOptions["providerOptions"]> {
  const { kind, name } = model.provider;
  switch (kind) {
    case "anthropic": {
      const thinking = thinkingBinding(model);
      return { anthropic: { includePings: true, ...(thinking === undefined ? {} : { thinking: { ...thinking } }) } };
    }
    case "openai":
      return { openai: { store: false, promptCacheKey: cacheKey(request) } };
    case "openai-compatible":
      return cachesOnRequest(model) ? { [name]: { cache_control: { type: "ephemeral" } } } : {};
    case "google":
      return {};
  }
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
  const host = URL.canParse(provider.baseUrl) ? new URL(provider.baseUrl).hostname : "";
  return /(?:^|\.)openrouter\.ai$/.test(host) && id.startsWith("anthropic/");
}
