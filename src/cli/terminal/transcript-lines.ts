// What a transcript says of a message and of an event.
import type { TaskEvent } from "../../protocol/task/event.ts";
import { type CompleteMessage, messageText } from "../../protocol/task/message.ts";
import { oneLine, printable } from "./printable.ts";
import { markOf, money } from "./task-tree.ts";

const longest = 120;

export const transcriptLines = { said, event };

/** `text` is what an agent says, `calls` a line each for what it calls and for what it is told back. */
function said(message: CompleteMessage): { readonly text: string; readonly calls: readonly string[] } {
  const calls = message.parts.flatMap((part) => {
    // What `final` is called with is the result, shown when the task ends.
    if ((part.part_type === "tool_call" || part.part_type === "tool_result") && part.data.tool_name === "final")
      return [];
    if (part.part_type === "tool_call") return [`→ ${short(part.data.tool_name)} ${short(part.data.input)}`];
    if (part.part_type !== "tool_result") return [];
    const told = messageText(part.data);
    const data = part.data.parts.flatMap((each) => (each.part_type === "data" ? [each.data] : []));
    return [`← ${short(part.data.tool_name)} ${told === "" ? short(data.length === 1 ? data[0] : data) : short(told)}`];
  });
  const text = message.role === "assistant" ? printable(messageText(message)) : "";
  // The first message of a task stands in the line that announces it.
  return { text, calls };
}

/** Empty for what needs no line. */
function event(happened: TaskEvent): string {
  switch (happened.type) {
    case "task.created":
      return happened.data.depth <= 1
        ? ""
        : `▸ ${short(happened.data.agent)}${happened.data.detached ? " (in the background)" : ""}: ${short(happened.data.prompt ?? "")}`;
    case "task.completed":
      return `${markOf("completed")} ${short(happened.data.content)}`;
    case "task.failed":
      return `${markOf("failed")} ${printable(happened.data.error.message)}`;
    case "task.canceled":
      return `${markOf("canceled")} ${short(happened.data.reason)}`;
    case "task.handed_over":
      return `⇒ handed over to ${short(happened.data.to_agent)}${happened.data.reason === undefined ? "" : `: ${short(happened.data.reason)}`}`;
    case "attempt.ended":
      return `↻ given up (${happened.data.outcome}), tried again: ${short(happened.data.reason)}`;
    case "ask.raised":
      return `${markOf("input_required")} ${short(happened.data.ask.question)}`;
    case "ask.answered":
      return `answered by ${short(happened.data.by.name)}: ${short(happened.data.answer)}`;
    case "ask.expired":
      return "nobody answered in time";
    case "step.finished":
      return happened.data.error === undefined
        ? ""
        : `${short(happened.data.key)}: ${short(happened.data.error.message)}`;
    case "budget.reached": {
      const { limit, allowed, wanted } = happened.data;
      // Money is asked about before the limit is passed only when a call's price is not known.
      if (limit === "money_micro_usd" && wanted <= allowed) {
        return `the price of this model is not known, and there is a limit of ${money(allowed)}`;
      }
      return `the limit of ${limit === "money_micro_usd" ? money(allowed) : `${allowed} ${limit}`} is reached`;
    }
    default:
      return "";
  }
}

function short(value: unknown): string {
  return oneLine(typeof value === "string" ? value : (JSON.stringify(value) ?? ""), longest);
}
