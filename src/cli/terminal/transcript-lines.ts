// The lines of a transcript: what it shows of a message and of an event.
import { driftText } from "./drift-text.ts";
import { z } from "zod";

import type { TaskEvent } from "../../protocol/task/event.ts";
import { startedCheckText } from "../../protocol/task/started-check.ts";
import { type CompleteMessage, messageText, type ToolCall, type ToolResult } from "../../protocol/task/message.ts";
import { oneLine } from "./printable.ts";
import { inOneLine, readableLines } from "./readable-value.ts";
import { savedText } from "./saved-text.ts";
import { markOf } from "./task-tree.ts";
import { money } from "./units.ts";
import { valueText } from "./value-text.ts";

const maxLength = 120;

/** A tool call or a result of one. */
export interface CallLines {
  readonly head: string;
  /** Stands below the head, indented. */
  readonly body: readonly string[];
}

export interface MessageLines {
  /** What an agent wrote, as Markdown. */
  readonly text: string;
  readonly calls: readonly CallLines[];
}

/**
 * Of longer arguments and results, only `maxLines` lines are shown. `namesAsks`: of a call that asks a person only the name is
 * shown, because the question follows.
 */
export function messageLines(message: CompleteMessage, { maxLines = Infinity, namesAsks = false } = {}): MessageLines {
  const calls = message.parts.flatMap((part): CallLines[] => {
    // The argument of `final` is the result of the task, which is shown when the task ends.
    if (part.part_type === "tool_call") {
      if (part.data.tool_name === "final") return [];
      if (namesAsks && part.data.tool_name === "ask") return [{ head: "→ ask", body: [] }];
      return [callLines(part.data, maxLines)];
    }
    if (part.part_type === "tool_result")
      return part.data.tool_name === "final" ? [] : [resultLines(part.data, maxLines)];
    return [];
  });
  // The message a task begins with is shown by the line that announces the task.
  return { text: message.role === "assistant" ? messageText(message) : "", calls };
}

const AskInput = z.looseObject({ question: z.string() });

/** What the agent asks a person with the calls in the message. */
export function questionsIn({ parts }: CompleteMessage): string[] {
  return parts.flatMap((part) => {
    if (part.part_type !== "tool_call" || part.data.tool_name !== "ask") return [];
    const { data } = AskInput.safeParse(part.data.input);
    return data === undefined ? [] : [data.question];
  });
}

function callLines({ tool_name, input }: ToolCall, maxLines: number): CallLines {
  return withBody(`→ ${short(tool_name)}`, readableLines(input), maxLines);
}

const FailedResult = z.strictObject({ error: z.object({ message: z.string() }) });

function resultLines(result: ToolResult, maxLines: number): CallLines {
  const text = messageText(result);
  const data = result.parts.flatMap((each) => (each.part_type === "data" ? [each.data] : []));
  const value = text === "" ? (data.length === 1 ? data[0] : data) : text;
  const { data: failed } = FailedResult.safeParse(value);
  if (failed !== undefined) return { head: `← ${short(result.tool_name)} failed: ${failed.error.message}`, body: [] };
  return withBody(`← ${short(result.tool_name)}`, readableLines(value), maxLines);
}

/** One short line stands beside the head. */
function withBody(head: string, lines: readonly string[], maxLines: number): CallLines {
  const [first = ""] = lines;
  if (lines.length === 1 && first.length <= maxLength) return { head: `${head} ${first}`.trimEnd(), body: [] };
  const left = lines.length - maxLines;
  // A note about one line would take as much room as the line.
  if (left <= 1) return { head, body: lines };
  return { head, body: [...lines.slice(0, maxLines), `… ${left} more lines`] };
}

/** Empty for an event that is not shown. */
export function eventText(event: TaskEvent): string {
  switch (event.type) {
    case "task.created":
      return event.data.depth <= 1
        ? ""
        : `▸ ${short(event.data.agent)}${event.data.detached ? " (in the background)" : ""}: ${short(event.data.prompt ?? "")}`;
    case "task.completed":
      return `${markOf("completed")} ${short(inOneLine(event.data.content) ?? event.data.content)}`;
    case "task.failed":
      return `${markOf("failed")} ${event.data.error.message}`;
    case "task.canceled":
      return `${markOf("canceled")} ${short(event.data.reason)}`;
    case "task.handed_over":
      return `⇒ handed over to ${short(event.data.to_agent)}${event.data.reason === undefined ? "" : `: ${short(event.data.reason)}`}`;
    case "attempt.ended":
      return `↻ attempt ended (${event.data.outcome}), trying again: ${short(event.data.reason)}`;
    case "ask.raised":
      return `${markOf("input_required")} ${event.data.ask.question}`;
    case "call.allowed":
      return `allowed by ${short(event.data.rule)}: ${short(event.data.text)}`;
    case "model.changed": {
      const { from, to, format, reason } = event.data;
      return `⇒ going on with ${from === to ? `${format} calls` : short(to)}: ${short(reason)}`;
    }
    case "call.drifted":
      return `≈ ${short(driftText(event.data))}`;
    case "ask.answered":
      return `answered by ${short(event.data.by.name)}: ${answerText(event.data.answer)}`;
    case "session.started": {
      const { profile, confined, resumed } = event.data;
      const how = resumed ? "goes on with" : "began";
      return `${short(profile)} ${how} a session${confined ? "" : ", not confined"}`;
    }
    case "check.started":
      return startedCheckText(event.data);
    case "session.saved":
      return [`⎇ ${savedText(event.data)}`, ...event.data.warnings].join("\n");
    case "session.stalled":
      return `the session has been silent for ${Math.round(event.data.silent_ms / 1_000)} seconds`;
    case "ask.expired":
      return "nobody answered in time";
    case "step.finished":
      // The result of a tool says itself that the tool failed.
      if (event.data.error === undefined || event.data.key.startsWith("tool:")) return "";
      return `${whatFailed(event.data.key)} failed: ${event.data.error.message}`;
    case "budget.reached": {
      const { limit, allowed, wanted } = event.data;
      // A money limit that is not exceeded is reached only because the price of a call is not known.
      if (limit === "money_micro_usd" && wanted <= allowed) {
        return `what this costs is not known, and there is a limit of ${money(allowed)}`;
      }
      return `the limit of ${limit === "money_micro_usd" ? money(allowed) : `${allowed} ${limit}`} is reached`;
    }
    default:
      return "";
  }
}

/** As the person gave it. */
function answerText(answer: Extract<TaskEvent, { type: "ask.answered" }>["data"]["answer"]): string {
  if (answer.kind === "question") return readableLines(answer.value).join("\n");
  if (answer.kind === "budget") return answer.go_on ? "yes, go on" : "no";
  return answer.approved ? "yes" : `no${answer.reason === undefined ? "" : `: ${answer.reason}`}`;
}

function whatFailed(key: string): string {
  return key.startsWith("model") ? "the call of the model" : `the step ${short(key)}`;
}

function short(value: unknown): string {
  return oneLine(valueText(value), maxLength);
}
