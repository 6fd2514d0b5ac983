// How a model is called: how hard it thinks, how freely it chooses its words, and what only its provider knows.

import { z } from "zod";

import { effortLevels } from "./effort-levels.ts";

/** How hard a model thinks. Each provider has its own setting for it; what a model does not know becomes the nearest it does. */
export const Effort = z.enum(effortLevels);
export type Effort = z.infer<typeof Effort>;

/**
 * Options that would make the provider run tools, keep the conversation or change it: calls would bypass the approvals, and
 * the history would not be the one that is recorded.
 */
const notAllowed = new Set([
  "allowedTools",
  "compaction",
  "compactionTrigger",
  "container",
  "contextManagement",
  "continuationToken",
  "conversation",
  "max_completion_tokens",
  "max_tokens",
  "mcpServers",
  "messages",
  "model",
  "previousResponseId",
  "stream",
  "thread",
  "tool_choice",
  "tools",
]);

/** Passed to the provider's package as they are; for a compatible server they are fields of the request. */
export const ProviderOptions = z.record(z.string().min(1), z.unknown()).superRefine((options, context) => {
  for (const name of Object.keys(options)) {
    if (notAllowed.has(name)) {
      context.addIssue({ code: "custom", path: [name], message: "is set by Tutti and cannot be given here" });
    }
  }
});
export type ProviderOptions = z.infer<typeof ProviderOptions>;

/** Models to try, in this order, when the first refuses or cannot be reached. */
export const FallbackModels = z.array(z.string().trim().min(1)).max(16);

export const callSettings = {
  effort: Effort.optional(),
  temperature: z.number().min(0).max(2).optional(),
  provider_options: ProviderOptions.optional(),
};
