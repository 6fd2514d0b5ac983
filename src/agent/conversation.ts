// A task's conversation: put together again after a restart or a handover, so that the next request is the same.

import { z } from "zod";

import { inheritHistory, snapshotHistory } from "../core/history.ts";
import { completeMessage, type CompleteMessage, type Message, type ToolCall } from "../protocol/message.ts";
import type { Durable } from "../ports.ts";
import { SharedHistory, type TaskInput } from "./task-input.ts";

/** `said`: messages of the task before this turn. Those of the turn itself come back from its steps. */
const LoopState = z.object({ turn: z.int(), said: z.int() });

export interface Conversation {
  /** All the model sees, in order. */
  readonly messages: readonly CompleteMessage[];
  readonly turn: number;
  add(messages: readonly CompleteMessage[]): void;
  /** Begins the turn: a restart from now on comes back to it. */
  begin(): void;
  next(): void;
}

export async function openConversation(durable: Durable, input: TaskInput): Promise<Conversation> {
  const restored = await durable.restore(LoopState);
  const earlier = restored?.messages ?? (durable.run > 1 ? await durable.messages() : []);
  const kept = restored === undefined ? earlier : earlier.slice(0, restored.state.said);
  const opening = completeMessage(input.message, { id: `${durable.task}.opening`, now: 0 });
  const before = [...inheritedBy(durable, input), opening, ...inCallOrder(kept)];
  // The call that handed the task over has no answer, and the next agent must not see it as one of its own.
  const messages = durable.run > 1 ? snapshotHistory(before) : before;
  let turn = restored?.state.turn ?? 0;
  let said = kept.length;
  const add = (added: readonly CompleteMessage[]): void => {
    messages.push(...added);
    said += added.length;
  };
  return {
    messages,
    get turn() {
      return turn;
    },
    add,
    begin() {
      durable.save(`turn:${turn}`, { turn, said });
      if (turn === 0 && input.handed !== undefined) add([durable.say("handed", input.handed.message)]);
    },
    next() {
      turn += 1;
    },
  };
}

function inheritedBy(durable: Durable, { context }: TaskInput): CompleteMessage[] {
  if (context !== "inherited" || durable.shared === undefined) return [];
  const { history } = SharedHistory.parse(durable.shared);
  return inheritHistory(history, (_, index) => `${durable.task}.inherited.${index}`);
}

export function callsIn(message: Pick<Message, "parts">): ToolCall[] {
  return message.parts.flatMap((part) => (part.part_type === "tool_call" ? [part.data] : []));
}

/** Results are kept as they come in; the model sees them in the order of its calls, before and after a restart. */
function inCallOrder(messages: readonly CompleteMessage[]): CompleteMessage[] {
  const ordered: CompleteMessage[] = [];
  let calls: string[] = [];
  let results: CompleteMessage[] = [];
  const place = (message: CompleteMessage): number => {
    const [part] = message.parts;
    return part?.part_type === "tool_result" ? calls.indexOf(part.data.tool_call_id) : -1;
  };
  const flush = (): void => {
    ordered.push(...results.toSorted((a, b) => place(a) - place(b)));
    results = [];
  };
  for (const message of messages) {
    if (message.role === "tool") {
      results.push(message);
      continue;
    }
    flush();
    if (message.role === "assistant") calls = callsIn(message).map((call) => call.tool_call_id);
    ordered.push(message);
  }
  flush();
  return ordered;
}
