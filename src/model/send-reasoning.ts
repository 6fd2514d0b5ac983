// Decides whether the reasoning of earlier replies is sent back to a model: some servers demand it, others refuse it.

import type { SendReasoning } from "./models-config.ts";
import type { ResolvedModel } from "./resolve-model.ts";

/** `bound`: only while everything before the reasoning is what it was when the model wrote it. */
export type ReasoningPolicy = "bound" | "always" | "never";

/** Models that reason between their calls and whose makers ask for `reasoning_content` in the next request. */
const wantReasoning = /deepseek|kimi|moonshot|glm|minimax|mimo/i;
/** Servers that refuse a message with the field, whatever the model. */
const refuseReasoning = /(?:^|\.)(?:groq\.com|cerebras\.ai|mistral\.ai)$/;

/** `learned`: what the server itself has said about it in this process. */
export function reasoningPolicy(
  { id, sendReasoning, provider }: Pick<ResolvedModel, "id" | "sendReasoning" | "provider">,
  learned?: ReasoningPolicy,
): ReasoningPolicy {
  if (sendReasoning !== "auto") return sendReasoning;
  if (provider.kind === "anthropic") return "bound";
  if (provider.kind !== "openai-compatible") return "always";
  if (learned !== undefined) return learned;
  const host = URL.canParse(provider.baseUrl) ? new URL(provider.baseUrl).hostname : "";
  return wantReasoning.test(`${host} ${id}`) && !refuseReasoning.test(host) ? "always" : "never";
}

/** Refusals of reasoning that was sent back: its signature, its encryption or its place is not accepted. */
const refusedReasoning =
  /bound to a different conversation|invalid `?signature`? in `?thinking|blocks in the latest assistant message cannot be modified|encrypted content .{0,80}could not be (?:verified|decrypted)|invalid_encrypted_content|without its required following item/i;

/** Whether the request was refused for the reasoning in it, so that it is worth sending without. */
export function isReasoningRefused(text: string): boolean {
  return refusedReasoning.test(text);
}

/** What a refused request says about `reasoning_content`; undefined when it says nothing, or the user has decided. */
export function learnedFrom(
  text: string,
  { sendReasoning, provider }: { readonly sendReasoning: SendReasoning; readonly provider: ResolvedModel["provider"] },
): ReasoningPolicy | undefined {
  if (sendReasoning !== "auto" || provider.kind !== "openai-compatible" || !/reasoning_content/.test(text)) {
    return undefined;
  }
  if (/must be passed|is missing|is required|must (?:be )?(?:include|provide)/i.test(text)) return "always";
  return /unsupported|not supported|not permitted|forbidden|unknown|unrecogni[sz]ed|unexpected|additional propert/i.test(
    text,
  )
    ? "never"
    : undefined;
}
