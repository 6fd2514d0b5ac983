// The calls of replies, and results in the order of their calls.

import type { CompleteMessage, Message, ToolCall } from "../../protocol/task/message.ts";

export function callsIn(message: Pick<Message, "parts">): ToolCall[] {
  const calls: ToolCall[] = [];
  for (const part of message.parts) if (part.part_type === "tool_call") calls.push(part.data);
  return calls;
}

/** Results are recorded as they come in; the model sees them in the order of its calls, before and after a restart. */
export function inCallOrder(messages: readonly CompleteMessage[]): CompleteMessage[] {
  const ordered: CompleteMessage[] = [];
  let calls: string[] = [];
  let results: CompleteMessage[] = [];
  const callIndex = (message: CompleteMessage): number => {
    const [part] = message.parts;
    return part?.part_type === "tool_result" ? calls.indexOf(part.data.tool_call_id) : -1;
  };
  const flush = (): void => {
    ordered.push(...results.toSorted((a, b) => callIndex(a) - callIndex(b)));
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
