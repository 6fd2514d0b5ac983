// Decides from a task's latest events what its session is doing, and says it in one line.

import type { TaskEvent } from "../protocol/task/event.ts";
import { messageText } from "../protocol/task/message.ts";
import { startedCheckText } from "../protocol/task/started-check.ts";
import type { Activity } from "../protocol/task/observation.ts";
import { isTerminal, type TaskStatus } from "../protocol/task/task-status.ts";
import { turnOutcome } from "./fold-conversation.ts";
import { waitingIn, waitingText } from "./model-waiting.ts";
import { fingerprint } from "./fingerprint.ts";

/** A session of which nothing is heard for so long counts as stalled. */
const stalledAfterMs = 5 * 60_000;
/** The same call with the same result so often in a row is a loop. */
const loopLength = 3;
const summaryLength = 200;

export interface Seen {
  readonly status: TaskStatus;
  /** Open asks of the task itself; `stopped`: the one with which it waits to be resumed. */
  readonly asks: readonly { readonly question: string; readonly stopped: boolean }[];
  /** The latest events of the task itself, oldest first. */
  readonly events: readonly TaskEvent[];
  readonly now: number;
  /** Whether tasks that it started are not over. */
  readonly hasOpenTasks: boolean;
}

/** Nothing was heard of it for long; why that is says its activity. */
export function isQuiet({ events, now }: Pick<Seen, "events" | "now">): boolean {
  const last = events.at(-1);
  if (last?.type === "model.waiting" && now < last.data.until) return false;
  return last !== undefined && (last.type === "session.stalled" || now - last.at >= stalledAfterMs);
}

export function activityOf({ status, asks, events, now, hasOpenTasks }: Seen): Activity {
  if (isTerminal(status)) return "ended";
  if (asks.some(({ stopped }) => stopped)) return "stopped";
  if (status === "input_required") return "waiting";
  if (status === "pending") return "queued";
  const last = events.at(-1);
  if (hasAnsweredPerson(events)) return "idle";
  if (isLooping(events)) return "looping";
  if (last?.type === "session.answered") return "idle";
  if (!isQuiet({ events, now })) return "working";
  return hasOpenTasks ? "delegating" : "stalled";
}

/** A conversation with the manager whose turn has ended. */
function hasAnsweredPerson(events: readonly TaskEvent[]): boolean {
  const said = events.findLast((event) => event.type === "message.added");
  return said !== undefined && turnOutcome(said.data.message) !== undefined;
}

/** What a person would want to read in a list: the question, or the last thing that was said or called. */
export function summaryOf({ asks, events, now }: Pick<Seen, "asks" | "events" | "now">): string {
  const question = asks[0]?.question;
  if (question !== undefined) return lineOf(question);
  const waiting = waitingIn(events);
  if (waiting !== undefined) return lineOf(waitingText(waiting, now));
  for (const event of events.toReversed()) {
    const told = tellingOf(event);
    if (told !== undefined && told.trim() !== "") return lineOf(told);
  }
  return "nothing yet";
}

function tellingOf(event: TaskEvent): string | undefined {
  switch (event.type) {
    case "message.added": {
      const { message } = event.data;
      if (message.role !== "assistant") return undefined;
      const call = message.parts.findLast((part) => part.part_type === "tool_call");
      return call === undefined ? messageText(message) : `${call.data.tool_name} ${JSON.stringify(call.data.input)}`;
    }
    case "session.updated":
      return titleIn(event.data.update);
    case "task.failed":
      return `failed: ${event.data.error.message}`;
    case "task.canceled":
      return `canceled: ${event.data.reason}`;
    case "check.started":
      return startedCheckText(event.data);
    case "attempt.ended":
      return `its attempt ended (${event.data.outcome}): ${event.data.reason}`;
    default:
      return undefined;
  }
}

function titleIn(update: unknown): string | undefined {
  if (typeof update !== "object" || update === null || !("title" in update)) return undefined;
  return typeof update.title === "string" ? update.title : undefined;
}

/** Calls in their order, each with what came of it, as one text that is equal for equal calls. */
function isLooping(events: readonly TaskEvent[]): boolean {
  const since = events.findLastIndex(({ type }) => type === "run.started");
  const calls: Calls = new Map();
  for (const event of events.slice(since + 1)) {
    if (event.type === "message.added") addParts(calls, event.data.message.parts);
    else if (event.type === "session.updated") addUpdate(calls, event.data.update);
  }
  const last = [...calls.values()].filter(({ result }) => result !== undefined).slice(-loopLength);
  const [first] = last;
  if (first === undefined || last.length < loopLength) return false;
  return last.every(({ call, result }) => call === first.call && result === first.result);
}

type Calls = Map<string, { call: number; result: number | undefined }>;
type Parts = Extract<TaskEvent, { type: "message.added" }>["data"]["message"]["parts"];

function addParts(calls: Calls, parts: Parts): void {
  for (const part of parts) {
    if (part.part_type === "tool_call") {
      const { tool_call_id, tool_name, input } = part.data;
      calls.set(tool_call_id, { call: fingerprint([tool_name, input]), result: undefined });
    } else if (part.part_type === "tool_result") {
      const known = calls.get(part.data.tool_call_id);
      if (known !== undefined) known.result = fingerprint(part.data.parts);
    }
  }
}

/** Updates of one call come in pieces; what a later one says replaces what an earlier one said. */
function addUpdate(calls: Calls, update: unknown): void {
  if (typeof update !== "object" || update === null || !("toolCallId" in update)) return;
  const id = String(update.toolCallId);
  const known = calls.get(id) ?? { call: 0, result: undefined };
  if ("rawInput" in update) known.call = fingerprint([titleIn(update), update.rawInput]);
  const output = "rawOutput" in update ? update.rawOutput : "content" in update ? update.content : undefined;
  if ("status" in update && (update.status === "completed" || update.status === "failed")) {
    known.result = fingerprint([update.status, output ?? null]);
  }
  calls.set(id, known);
}

function lineOf(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  const characters = Array.from(line);
  return characters.length > summaryLength ? `${characters.slice(0, summaryLength - 1).join("")}…` : line;
}
