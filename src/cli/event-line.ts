// One line per event, for logs and progress.
import type { TaskEvent } from "../protocol/event.ts";
import { messageText } from "../protocol/message.ts";
import { bold, dim } from "./output.ts";

/** Text longer than this is cut in a line; `show` has all of it. */
const longest = 160;

export function eventLine(event: TaskEvent): string {
  const time = new Date(event.at).toISOString().slice(11, 23);
  return `${dim(time)} ${dim(event.task)} ${bold(event.type)} ${short(describe(event))}`.trimEnd();
}

function describe(event: TaskEvent): string {
  switch (event.type) {
    case "task.created":
      return `${event.data.agent} (${event.data.runner})${event.data.prompt === undefined ? "" : `: ${event.data.prompt}`}`;
    case "task.completed":
      return plain(event.data.content);
    case "task.failed":
      return event.data.error.message;
    case "task.canceled":
      return event.data.reason;
    case "message.added": {
      const { message } = event.data;
      const calls = message.parts.flatMap((part) =>
        part.part_type === "tool_call" ? [`${part.data.tool_name} ${plain(part.data.input)}`] : [],
      );
      const results = message.parts.flatMap((part) =>
        part.part_type === "tool_result"
          ? [`${part.data.tool_name} → ${messageText(part.data) || plain(part.data.parts.map((each) => each.data))}`]
          : [],
      );
      return `${message.role}: ${[messageText(message), ...calls, ...results].filter((text) => text !== "").join(" | ")}`;
    }
    case "step.finished":
      return `${event.data.key} ${event.data.outcome}${event.data.error === undefined ? "" : `: ${event.data.error.message}`}`;
    case "ask.raised":
      return `${event.data.ask.id} ${event.data.ask.kind}: ${event.data.ask.question}`;
    case "ask.answered":
      return `${event.data.ask} by ${event.data.by.name}`;
    default:
      return Object.keys(event.data).length === 0 ? "" : plain(event.data);
  }
}

function plain(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
}
