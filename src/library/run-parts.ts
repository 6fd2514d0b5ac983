// Turns the events and the live text of a run into plain parts: text once and in order, calls with their results, questions.

import type { EventOrDelta } from "../client/client.ts";
import type { Ask } from "../protocol/task/ask.ts";
import type { LiveDelta, TaskEvent } from "../protocol/task/event.ts";
import { type CompleteMessage, messageText, type Part, type ToolResult } from "../protocol/task/message.ts";

interface Said {
  readonly agent: string;
  readonly task: string;
}

/** A part before the types of the program's tools are known. */
export type PlainPart =
  | (Said & { readonly type: "text"; readonly text: string; readonly again?: true })
  | (Said & { readonly type: "reasoning"; readonly text: string })
  | (Said & { readonly type: "notice"; readonly text: string })
  | (Said & { readonly type: "tool-call"; readonly tool: string; readonly input: unknown; readonly id: string })
  | (Said & { readonly type: "tool-result"; readonly tool: string; readonly id: string } & ToolOutcome)
  | { readonly type: "ask"; readonly ask: Ask }
  | { readonly type: "event"; readonly event: TaskEvent };

type ToolOutcome = { readonly ok: true; readonly output: unknown } | { readonly ok: false; readonly error: string };

/** Yields the event that a part came from beside it, so that whoever reads can tell where to go on. */
export async function* followRun(feed: AsyncIterable<EventOrDelta>): AsyncGenerator<PlainPart> {
  const agents = new Map<string, string>();
  const shown = new Map<string, string>();
  for await (const each of feed) {
    if ("live" in each) yield* livePart(each.live, agents.get(each.live.task) ?? "", shown);
    else yield* eventParts(each.event, agents, shown);
  }
}

function* livePart(live: LiveDelta, agent: string, shown: Map<string, string>): Generator<PlainPart> {
  const { task, channel, text, offset } = live;
  if (channel === "reasoning" || channel === "notice") yield { type: channel, text, agent, task };
  if (channel !== "text") return;
  const key = stepOf(live);
  const before = shown.get(key) ?? "";
  // A reader that missed the beginning gets the text with the message that follows.
  if (offset !== before.length) return;
  shown.set(key, before + text);
  yield { type: "text", text, agent, task };
}

function* eventParts(event: TaskEvent, agents: Map<string, string>, shown: Map<string, string>): Generator<PlainPart> {
  if (event.type === "task.created") agents.set(event.task, event.data.agent);
  if (event.type === "run.started") agents.set(event.task, event.data.agent);
  if (event.type === "ask.raised") yield { type: "ask", ask: event.data.ask };
  else if (event.type === "message.added") {
    const said = { agent: agents.get(event.task) ?? "", task: event.task };
    const { message, step } = event.data;
    if (message.role === "assistant") {
      const key = stepOf({ ...event, key: step?.key ?? "" });
      yield* restOfText(messageText(message), shown.get(key) ?? "", said);
      shown.delete(key);
    }
    yield* callParts(message, said);
    if (message.role !== "assistant" && message.role !== "tool") yield { type: "event", event };
  } else yield { type: "event", event };
}

/** What was not shown while it was written; all of it when something else was shown. */
function* restOfText(text: string, before: string, said: Said): Generator<PlainPart> {
  if (text === before || text === "") return;
  if (text.startsWith(before)) yield { type: "text", text: text.slice(before.length), ...said };
  else yield { type: "text", text, again: true, ...said };
}

function* callParts({ parts }: CompleteMessage, said: Said): Generator<PlainPart> {
  for (const part of parts) {
    if (part.part_type === "tool_call") {
      const { tool_name: tool, tool_call_id: id, input } = part.data;
      yield { type: "tool-call", tool, id, input, ...said };
    }
    if (part.part_type === "tool_result") {
      const { tool_name: tool, tool_call_id: id } = part.data;
      yield { type: "tool-result", tool, id, ...outcomeOf(part.data), ...said };
    }
  }
}

function outcomeOf({ parts }: ToolResult): ToolOutcome {
  const [only] = parts;
  const output = parts.length === 1 && only !== undefined ? contentOf(only) : parts.map(contentOf);
  const error = errorIn(output);
  return error === undefined ? { ok: true, output } : { ok: false, error };
}

function contentOf(part: Part): unknown {
  return part.part_type === "text" || part.part_type === "data" ? part.data : part;
}

/** The loop tells a failure as `{error: {code, message}}`. */
function errorIn(output: unknown): string | undefined {
  if (typeof output !== "object" || output === null || !("error" in output)) return undefined;
  const { error } = output;
  if (typeof error !== "object" || error === null || !("code" in error) || !("message" in error)) return undefined;
  return typeof error.message === "string" ? error.message : undefined;
}

function stepOf({
  task,
  attempt = 0,
  run = 0,
  key,
}: {
  task: string;
  attempt?: number | undefined;
  run?: number | undefined;
  key: string;
}): string {
  return `${task} ${attempt} ${run} ${key}`;
}
