// A conversation with the manager: what it is started with, how a turn ended, and how it is shown.

import { z } from "zod";

import { RehearsalScript } from "../invocation/rehearsal-script.ts";
import { NonBlank } from "../non-blank.ts";
import { AskId, TaskId, Time } from "../ids.ts";
import { TaskStatus } from "../task/task-status.ts";

/** The input of the conversation's task. */
export const ConversationFile = z.strictObject({
  /** `provider/model`; the default model of the project when absent. */
  model: NonBlank.optional(),
  /** The model that shortens old rounds; `model` when absent. */
  summary_model: NonBlank.optional(),
  script: RehearsalScript.optional(),
});
export type ConversationFile = z.infer<typeof ConversationFile>;

/** `unknown`: the process ended while it was carried out. */
export const TakenAction = z.strictObject({
  verb: z.string(),
  /** The goal, task or ask that it was about. */
  target: z.string().nullable(),
  outcome: z.enum(["ok", "error", "denied", "unknown"]),
});
export type TakenAction = z.infer<typeof TakenAction>;

/** Stands as data in the message that ends a turn. */
export const TurnOutcome = z.strictObject({
  kind: z.literal("turn"),
  /** The id of the message that was answered. */
  answers: z.string(),
  /** Calls of the model. */
  calls: z.int().nonnegative(),
  tokens: z.int().nonnegative(),
  /** Null when the price of a call is not known. */
  money_micro_usd: z.int().nonnegative().nullable(),
  actions: z.array(TakenAction),
  /** Parts of the model's replies that were not carried out, one line each. */
  dropped: z.array(z.string()),
  /** Set when the model gave no reply. */
  failed: z.boolean(),
});
export type TurnOutcome = z.infer<typeof TurnOutcome>;

export const ConversationTurn = z.strictObject({
  message: z.string(),
  user: z.string(),
  at: Time,
  /** Null while the turn is under way or waits for the one before it. */
  reply: z.string().nullable(),
  outcome: TurnOutcome.nullable(),
});
export type ConversationTurn = z.infer<typeof ConversationTurn>;

export const ConversationView = z.strictObject({
  conversation: TaskId,
  status: TaskStatus,
  created_at: Time,
  money_micro_usd: z.int().nonnegative(),
  tokens: z.int().nonnegative(),
  /** The oldest first; only the latest ones. */
  turns: z.array(ConversationTurn),
  /** Approvals that a turn waits for. */
  asks: z.array(AskId),
});
export type ConversationView = z.infer<typeof ConversationView>;
