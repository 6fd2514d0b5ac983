// Turns a stored event and the rows it points at into the event that readers are given.

import { z } from "zod";

import { type Ask, defaultAskMs } from "../protocol/task/ask.ts";
import { TaskEvent } from "../protocol/task/event.ts";
import { Message, messageText, ToolCall } from "../protocol/task/message.ts";
import { askName, type Salt, taskName } from "../store/names.ts";
import type { TaskRow, WaitRow } from "../store/store.ts";
import type { EventRecord } from "../store/view.ts";
import { wholeMessage } from "./recorded-message.ts";
import { taskBodyIn } from "./task-body.ts";
import { storedAnswerIn, type WaitBody, waitBodyIn } from "./wait-body.ts";

export function eventView(salt: Salt, event: EventRecord): TaskEvent {
  return TaskEvent.parse({
    seq: event.seq,
    at: event.at,
    task: taskName(salt, event.task),
    root: taskName(salt, event.root),
    attempt: event.attempt,
    run: event.run,
    type: event.type,
    data: dataOf(salt, event),
  });
}

function dataOf(salt: Salt, event: EventRecord): unknown {
  switch (event.type) {
    case "task.created":
      return createdData(salt, event.made);
    case "task.completed":
    case "task.failed":
    case "task.canceled":
      return JSON.parse(event.result?.body ?? "{}");
    case "message.added":
      return messageData(salt, event);
    case "step.finished":
      return {
        key: event.key,
        outcome: event.kind,
        ...(event.kind === "ok" ? {} : { error: bodyOf(event) }),
        tokens: event.tokens,
        money_micro_usd: event.money,
      };
    case "ask.raised":
      return { ask: event.wait === undefined ? undefined : askView(salt, event.wait) };
    case "ask.answered":
      return answeredData(salt, event);
    case "wait.opened":
      return openedData(event);
    default:
      return bodyOf(event);
  }
}

function bodyOf({ body }: EventRecord): unknown {
  return body === null ? {} : JSON.parse(body);
}

function createdData(salt: Salt, task: TaskRow | undefined): unknown {
  if (task === undefined) return {};
  return {
    agent: task.agent,
    runner: task.kind,
    parent: task.parent === null ? null : taskName(salt, task.parent),
    depth: task.depth,
    detached: task.detached,
    ...promptIn(task),
  };
}

/** A message that a step produced is the step's outcome, alone or with the usage beside it. */
function messageData(salt: Salt, event: EventRecord): unknown {
  const { kind, key, tokens, money } = event;
  const body = wholeMessage(bodyOf(event), { ...event, task: taskName(salt, event.task) });
  const { message = body, usage }: { message?: unknown; usage?: { money_micro_usd?: unknown } } = Object(body);
  if (kind !== "ok") return { message };
  return { message, step: { key, tokens, money_micro_usd: usage?.money_micro_usd === null ? null : money } };
}

const ClientCall = z.object({ external_tool: ToolCall });

/** The call whose result a wait is for, when the client carries the tool out itself. */
export function clientCall({ details }: WaitBody): { readonly tool_name: string; readonly input: unknown } | undefined {
  const call = ClientCall.safeParse(details).data?.external_tool;
  return call === undefined ? undefined : { tool_name: call.tool_name, input: call.input };
}

function openedData(event: EventRecord): unknown {
  const { wait: row } = event;
  const { wait, label }: { wait?: unknown; label?: unknown } = Object(bodyOf(event));
  const call = row === undefined ? undefined : clientCall(waitBodyIn(row));
  return { wait, label, ...(call === undefined ? {} : { call }), deadline: row?.due };
}

const StartsWithMessage = z.object({ message: Message });

/** An agent's task begins with a message; the inputs of other runners are their own. */
function promptIn({ body }: TaskRow): { readonly prompt?: string } {
  const held = StartsWithMessage.safeParse(taskBodyIn(body).input);
  return held.success ? { prompt: messageText(held.data.message) } : {};
}

/** The open ask of a wait; undefined for a wait that asks nobody. */
export function askView(salt: Salt, row: WaitRow): Extract<Ask, { status: "open" }> | undefined {
  if (row.ask === null) return undefined;
  const { ask } = waitBodyIn(row);
  if (ask === undefined) return undefined;
  return {
    id: askName(salt, row.id),
    task: taskName(salt, row.task),
    root: taskName(salt, row.root),
    kind: ask.kind,
    question: ask.question,
    ...(ask.details === undefined ? {} : { details: ask.details }),
    ...(ask.choices === undefined ? {} : { choices: [...ask.choices] }),
    ...(ask.choices_with_words === undefined ? {} : { choices_with_words: [...ask.choices_with_words] }),
    answer_schema: ask.answer_schema ?? null,
    raised_at: row.raised_at,
    deadline: row.due ?? row.raised_at + defaultAskMs,
    status: "open",
  };
}

/** An answer that may have to go again stands in the event itself; any other stands with its wait. */
function answeredData(salt: Salt, event: EventRecord): unknown {
  const body = bodyOf(event);
  if (typeof body === "object" && body !== null && "answer" in body) return body;
  const given = event.answer === undefined ? undefined : storedAnswerIn(event.answer);
  const ask = event.wait === undefined ? undefined : askName(salt, event.wait.id);
  return { ask, answer: given?.value, by: given?.by };
}
