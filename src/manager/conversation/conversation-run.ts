// What the parts of one conversation share while it runs.

import { z } from "zod";

import { RollingContext } from "../../core/rolling-context.ts";
import type { Model } from "../../model-port.ts";
import type { Durable } from "../../ports.ts";
import type { TakenAction } from "../../protocol/conversation/conversation-view.ts";
import type { Usage } from "../../protocol/task/budget.ts";
import type { CompleteMessage } from "../../protocol/task/message.ts";
import type { ConversationDeps } from "./conversation-deps.ts";

/** The name of the manager in requests and messages. */
export const managerAgent = "manager";

/** What a restart goes on from. Turns are counted from 1. */
export const ConversationState = z.object({ turn: z.int().positive(), context: RollingContext });
export type ConversationState = z.infer<typeof ConversationState>;

export interface ConversationRun extends ConversationState {
  readonly durable: Durable;
  readonly deps: ConversationDeps;
  readonly model: Model;
  readonly modelName: string;
  readonly summaryModel: string;
  /** The folder in which its goals work. */
  readonly folder: string | undefined;
}

/** One turn while it is under way. All of it follows from what is recorded, so a restart comes to the same. */
export interface Turn {
  readonly run: ConversationRun;
  readonly message: CompleteMessage;
  /** The person's words. */
  readonly said: string;
  readonly system: string;
  /** The replies of the model so far, each with what it was told then. */
  readonly exchanges: { readonly reply: string; readonly told: string }[];
  readonly actions: TakenAction[];
  readonly dropped: string[];
  readonly spent: { tokens: number; money: number | null };
  /** What the model sees may hold words of a session. */
  holdsSessionOutput: boolean;
}

export function keyOf(turn: Turn, name: string): string {
  return `turn${turn.run.turn}.${name}`;
}

export function addSpent(spent: Turn["spent"], { input_tokens, output_tokens, money_micro_usd }: Usage): void {
  spent.tokens += input_tokens + output_tokens;
  spent.money = spent.money === null || money_micro_usd === null ? null : spent.money + money_micro_usd;
}
