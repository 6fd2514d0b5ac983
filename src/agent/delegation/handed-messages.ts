// What a runner outside of the agent loop is handed beside the text of a prompt: the inherited conversation, and a prompt that is not only text.

import { inheritHistory } from "../../core/history.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { type CompleteMessage, completeMessage } from "../../protocol/task/message.ts";
import { SharedHistory, type TaskInput } from "./task-input.ts";

export interface HandedTask {
  readonly task: TaskId;
  readonly input: Pick<TaskInput, "context" | "message">;
  /** What the spawn stored once for all its children. */
  readonly shared: unknown;
  /** The time of a message that has none. */
  readonly now: number;
}

/** The conversation as the task's own copy, with new ids. Empty when the text of the prompt says everything. */
export function handedMessages({ task, input, shared, now }: HandedTask): CompleteMessage[] {
  const messages = inheritedMessages({ task, input, shared });
  const { message } = input;
  if (message.parts.every(({ part_type }) => part_type === "text")) return messages;
  return [...messages, completeMessage(message, { id: `${task}.prompt`, now })];
}

export function inheritedMessages({ task, input, shared }: Omit<HandedTask, "now">): CompleteMessage[] {
  if (input.context !== "inherited" || shared === undefined || shared === null) return [];
  const { history } = SharedHistory.parse(shared);
  return inheritHistory(history, (_, index) => `${task}.inherited.${index}`);
}
