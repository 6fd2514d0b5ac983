// The bodies of the routes of conversations with the manager.

import { z } from "zod";

import { ConversationFile } from "../conversation/conversation-view.ts";
import { TaskId } from "../ids.ts";
import { Budget } from "../task/budget.ts";

export const ConversationParams = z.strictObject({ conversation: TaskId });

export const NewConversation = z.strictObject({
  ...ConversationFile.shape,
  /** An absolute path in the project whose models are used; only the user's config counts when absent. */
  folder: z.string().min(1).max(4096).optional(),
  budget: Budget.partial().optional(),
});
export type NewConversation = z.input<typeof NewConversation>;

/** The id of a conversation is that of its task. */
export const StartedConversation = z.strictObject({ conversation: TaskId });

export const SayToManager = z.strictObject({
  text: z
    .string()
    .max(32_000)
    .refine((text) => text.trim() !== "", "is blank"),
});
/** `message`: its id, which the answer names. */
export const Said = z.strictObject({ message: z.string() });
