// What of an event can be searched for: its words, bounded, without control characters.

import type { TaskEvent } from "../../protocol/task/event.ts";
import type { Part } from "../../protocol/task/message.ts";

export type TextKind = "goal" | "task" | "message" | "result" | "ask" | "evidence";

export interface EventText {
  readonly kind: TextKind;
  readonly text: string;
}

/** The rest of a longer text is not found. */
const longestText = 16_000;
/** How many values of a nested value are looked at. */
const mostValues = 1_000;

/** Undefined for an event without words of its own. */
export function textOf(event: TaskEvent): EventText | undefined {
  switch (event.type) {
    case "goal.created":
      return made("goal", event.data.goal.text, ...event.data.goal.acceptance.map(({ text }) => text));
    case "goal.noted":
      return made("goal", event.data.text);
    case "task.created":
      return made("task", event.data.agent, event.data.prompt ?? "");
    case "message.added":
      return made("message", ...event.data.message.parts.flatMap(wordsOfPart));
    case "session.updated":
      return made("message", ...stringsIn(event.data.update));
    case "task.completed":
      return made("result", ...stringsIn(event.data.content));
    case "task.failed":
      return made("result", event.data.error.code, event.data.error.message);
    case "task.canceled":
      return made("result", event.data.reason);
    case "ask.raised":
      return made("ask", event.data.ask.question, ...stringsIn(event.data.ask.details));
    case "ask.answered":
      return made("ask", ...stringsIn(event.data.answer));
    case "evidence.added": {
      const { excerpt, fact } = event.data.evidence;
      return made("evidence", excerpt, ...stringsIn(fact));
    }
    default:
      return undefined;
  }
}

function made(kind: TextKind, ...pieces: readonly string[]): EventText | undefined {
  let text = "";
  for (const piece of pieces) {
    if (text.length >= longestText) break;
    if (piece !== "") text += `${text === "" ? "" : "\n"}${piece.slice(0, longestText - text.length)}`;
  }
  // Control characters mark the matches in an excerpt, so a text must not have any.
  const plain = text.replaceAll(/[^\P{Cc}\n]/gu, " ").trim();
  return plain === "" ? undefined : { kind, text: plain };
}

function wordsOfPart(part: Part): string[] {
  switch (part.part_type) {
    case "text":
      return [part.data];
    case "tool_call":
      return [part.data.tool_name, ...stringsIn(part.data.input)];
    case "tool_result":
      return part.data.parts.flatMap(wordsOfPart);
    case "data":
      return stringsIn(part.data);
    default:
      return [];
  }
}

/** The strings in a value, in order, as far as the limits go; the names of fields are not among them. */
function stringsIn(value: unknown): string[] {
  const found: string[] = [];
  const waiting: unknown[] = [value];
  let length = 0;
  for (let seen = 0; waiting.length > 0 && seen < mostValues && length < longestText; seen += 1) {
    const next = waiting.pop();
    if (typeof next === "string") {
      found.push(next);
      length += next.length;
    } else if (typeof next === "object" && next !== null) {
      waiting.push(...Object.values(next).slice(0, mostValues).toReversed());
    }
  }
  return found;
}
