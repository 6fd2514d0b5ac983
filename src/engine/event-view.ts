// Turns a stored line into the event readers are given: what it points at is put in place.

import type { Answer, Ask } from "../protocol/task/ask.ts";
import { defaultAskMs } from "../protocol/task/ask.ts";
import { TaskEvent } from "../protocol/task/event.ts";
import { Message, messageText } from "../protocol/task/message.ts";
import type { StoredEvent, WaitRow } from "../store/store.ts";
import type { StoreView } from "../store/view.ts";
import { askName, idInName, taskName } from "./names.ts";
import type { WaitBody } from "./waits.ts";

export function eventView(view: StoreView, event: StoredEvent): TaskEvent {
  return TaskEvent.parse({
    seq: event.id,
    at: event.at,
    task: taskName(view.salt, event.task),
    root: taskName(view.salt, event.root),
    attempt: event.attempt,
    run: event.run,
    type: event.type,
    data: dataOf(view, event),
  });
}

function dataOf(view: StoreView, event: StoredEvent): unknown {
  const body: unknown = event.body === null ? {} : JSON.parse(event.body);
  switch (event.type) {
    case "task.created":
      return createdData(view, event.task);
    case "task.completed":
    case "task.failed":
    case "task.canceled":
      return JSON.parse(view.result(event.task)?.body ?? "{}");
    case "message.added":
      return typeof body === "object" && body !== null && "message" in body
        ? { message: body.message }
        : { message: body };
    case "step.finished":
      return {
        key: event.key,
        outcome: event.kind,
        ...(event.kind === "ok" ? {} : { error: body }),
        tokens: event.tokens,
        money_micro_usd: event.money,
      };
    case "ask.raised":
      return { ask: askIn(view, body) };
    case "ask.answered":
      return answeredData(view, body);
    default:
      return body;
  }
}

function createdData(view: StoreView, id: number): unknown {
  const task = view.taskRow(id);
  return {
    agent: task?.agent ?? "",
    runner: task?.kind ?? "",
    parent: task?.parent === null || task?.parent === undefined ? null : taskName(view.salt, task.parent),
    depth: task?.depth ?? 0,
    detached: task?.detached ?? false,
    ...promptIn(task?.body),
  };
}

/** An agent's task begins with a message; other runners' inputs are their own. */
function promptIn(body: string | undefined): { readonly prompt?: string } {
  const { input }: { input?: unknown } = JSON.parse(body ?? "{}");
  if (typeof input !== "object" || input === null || !("message" in input)) return {};
  const message = Message.safeParse(input.message);
  return message.success ? { prompt: messageText(message.data) } : {};
}

function waitIn(view: StoreView, body: unknown): WaitRow | undefined {
  const name = typeof body === "object" && body !== null && "ask" in body ? String(body.ask) : "";
  const id = idInName(view.salt, name);
  return id === undefined ? undefined : view.wait(id);
}

function askIn(view: StoreView, body: unknown): Ask | undefined {
  const row = waitIn(view, body);
  return row === undefined ? undefined : askView(view.salt, row);
}

/** The open ask of a wait; undefined for a wait that asks nobody. */
export function askView(salt: string, row: WaitRow): Extract<Ask, { status: "open" }> | undefined {
  const { ask }: WaitBody = JSON.parse(row.body);
  if (ask === undefined) return undefined;
  return {
    id: askName(salt, row.id),
    task: taskName(salt, row.task),
    root: taskName(salt, row.root),
    kind: ask.kind,
    question: ask.question,
    ...(ask.details === undefined ? {} : { details: ask.details }),
    ...(ask.choices === undefined ? {} : { choices: [...ask.choices] }),
    answer_schema: ask.answer_schema ?? null,
    raised_at: row.raised_at,
    deadline: row.due ?? row.raised_at + defaultAskMs,
    status: "open",
  };
}

function answeredData(view: StoreView, body: unknown): unknown {
  if (typeof body === "object" && body !== null && "answer" in body) return body;
  const row = waitIn(view, body);
  const answer = row === undefined ? undefined : view.answer(row.id);
  const settled: { value?: Answer; by?: unknown } = JSON.parse(answer?.body ?? "{}");
  return { ask: row === undefined ? undefined : askName(view.salt, row.id), answer: settled.value, by: settled.by };
}
