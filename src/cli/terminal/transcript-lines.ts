// The lines of a transcript: what it shows of a message and of an event.
import type { TaskEvent } from "../../protocol/task/event.ts";
import { type CompleteMessage, messageText } from "../../protocol/task/message.ts";
import { oneLine } from "./printable.ts";
import { markOf } from "./task-tree.ts";
import { money } from "./units.ts";
import { valueText } from "./value-text.ts";

const maxLength = 120;

/** `text` is what an agent wrote; `calls` has one line for each tool call and for each result of one. */
export function messageLines(message: CompleteMessage): { readonly text: string; readonly calls: readonly string[] } {
  const calls = message.parts.flatMap((part) => {
    if (part.part_type !== "tool_call" && part.part_type !== "tool_result") return [];
    // The argument of `final` is the result of the task, which is shown when the task ends.
    if (part.data.tool_name === "final") return [];
    const name = short(part.data.tool_name);
    if (part.part_type === "tool_call") return [`→ ${name} ${short(part.data.input)}`];
    const text = messageText(part.data);
    const data = part.data.parts.flatMap((each) => (each.part_type === "data" ? [each.data] : []));
    return [`← ${name} ${short(text === "" ? (data.length === 1 ? data[0] : data) : text)}`];
  });
  // The message a task begins with is shown by the line that announces the task.
  const text = message.role === "assistant" ? messageText(message) : "";
  return { text, calls };
}

/** Empty for an event that is not shown. */
export function eventText(event: TaskEvent): string {
  switch (event.type) {
    case "task.created":
      return event.data.depth <= 1
        ? ""
        : `▸ ${short(event.data.agent)}${event.data.detached ? " (in the background)" : ""}: ${short(event.data.prompt ?? "")}`;
    case "task.completed":
      return `${markOf("completed")} ${short(event.data.content)}`;
    case "task.failed":
      return `${markOf("failed")} ${event.data.error.message}`;
    case "task.canceled":
      return `${markOf("canceled")} ${short(event.data.reason)}`;
    case "task.handed_over":
      return `⇒ handed over to ${short(event.data.to_agent)}${event.data.reason === undefined ? "" : `: ${short(event.data.reason)}`}`;
    case "attempt.ended":
      return `↻ attempt ended (${event.data.outcome}), trying again: ${short(event.data.reason)}`;
    case "ask.raised":
      return `${markOf("input_required")} ${short(event.data.ask.question)}`;
    case "ask.answered":
      return `answered by ${short(event.data.by.name)}: ${short(event.data.answer)}`;
    case "ask.expired":
      return "nobody answered in time";
    case "step.finished":
      return event.data.error === undefined ? "" : `${short(event.data.key)}: ${short(event.data.error.message)}`;
    case "budget.reached": {
      const { limit, allowed, wanted } = event.data;
      // A money limit that is not exceeded is reached only because the price of a call is not known.
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
  return oneLine(valueText(value), maxLength);
}
