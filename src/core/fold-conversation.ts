// The turns of a conversation, as the messages of its task tell them.

import { type ConversationTurn, TurnOutcome } from "../protocol/conversation/conversation-view.ts";
import { type CompleteMessage, messageText } from "../protocol/task/message.ts";

/** The outcome of the turn that a message ends; undefined for any other message. */
export function turnOutcome({ parts }: Pick<CompleteMessage, "parts">): TurnOutcome | undefined {
  for (const part of parts) {
    const read = part.part_type === "data" ? TurnOutcome.safeParse(part.data) : undefined;
    if (read?.success === true) return read.data;
  }
  return undefined;
}

/** The oldest first. */
export function foldConversation(messages: Iterable<CompleteMessage>): ConversationTurn[] {
  const turns = new Map<string, ConversationTurn>();
  for (const message of messages) {
    const { id, role, created_at } = message;
    if (role === "user") {
      turns.set(id, { message: id, user: messageText(message), at: created_at, reply: null, outcome: null });
      continue;
    }
    const outcome = turnOutcome(message);
    const turn = outcome === undefined ? undefined : turns.get(outcome.answers);
    if (turn === undefined || outcome === undefined) continue;
    turns.set(turn.message, { ...turn, reply: messageText(message), outcome });
  }
  return [...turns.values()];
}
