// The turns of a conversation, as the messages of its task tell them.

import { type ConversationTurn, TurnOutcome } from "../protocol/conversation/conversation-view.ts";
import { type CompleteMessage, messageText } from "../protocol/task/message.ts";
import { capText } from "./cap-text.ts";

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
  for (const message of messages) foldMessage(turns, message);
  return [...turns.values()];
}

/** The latest turns, as many as `most` allows in number and in characters together; long texts are cut and say so. */
export class LatestTurns {
  readonly #turns = new Map<string, ConversationTurn>();
  readonly #most: { readonly turns: number; readonly characters: number; readonly text: number };
  #characters = 0;

  constructor(most: { readonly turns: number; readonly characters: number; readonly text: number }) {
    this.#most = most;
  }

  add(message: CompleteMessage): void {
    const turn = foldMessage(this.#turns, message);
    if (turn === undefined) return;
    const { text, turns, characters } = this.#most;
    const short = { ...turn, user: shortened(turn.user, text), reply: turn.reply && shortened(turn.reply, text) };
    this.#turns.set(turn.message, short);
    // A turn that is answered was counted before with its question.
    this.#characters += short.reply?.length ?? short.user.length;
    for (const [id, oldest] of this.#turns) {
      if (this.#turns.size === 1 || (this.#turns.size <= turns && this.#characters <= characters)) return;
      this.#turns.delete(id);
      this.#characters -= oldest.user.length + (oldest.reply?.length ?? 0);
    }
  }

  /** The oldest first. */
  list(): ConversationTurn[] {
    return [...this.#turns.values()];
  }
}

/** A part of a text keeps the whole text in memory, a copy of that part does not. */
function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  return new TextDecoder().decode(new TextEncoder().encode(capText(text, most)));
}

/** The turn that the message begins or ends; undefined when it does neither. */
function foldMessage(turns: Map<string, ConversationTurn>, message: CompleteMessage): ConversationTurn | undefined {
  const { id, role, created_at } = message;
  const outcome = role === "user" ? undefined : turnOutcome(message);
  const begun = outcome === undefined ? undefined : turns.get(outcome.answers);
  const turn =
    role === "user"
      ? { message: id, user: messageText(message), at: created_at, reply: null, outcome: null }
      : begun && outcome && { ...begun, reply: messageText(message), outcome };
  if (turn !== undefined) turns.set(turn.message, turn);
  return turn;
}
