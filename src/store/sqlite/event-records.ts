// Puts beside an event the rows it points at: the task it made, the result it ended with, the ask it speaks of.
import type { DatabaseSync } from "node:sqlite";

import { z } from "zod";

import { isTerminal, TaskStatus } from "../../protocol/task/task-status.ts";
import { idInName, type Salt } from "../names.ts";
import type { StoredEvent } from "../store.ts";
import type { EventRecord } from "../view.ts";
import * as row from "./rows.ts";
import { readsOver } from "./statements.ts";

/** An ask is a wait too, under the name its events give it. */
const NamesWait = z.union([z.object({ ask: z.string() }), z.object({ wait: z.string() })]);

export function eventRecordsOver(
  database: DatabaseSync,
  path: string,
  salt: Salt,
): (event: StoredEvent) => EventRecord {
  const { one } = readsOver(database, path);
  const task = one("SELECT * FROM tasks WHERE id = ?", row.taskIn);
  const result = one("SELECT * FROM results WHERE task = ?", row.resultIn);
  const wait = one("SELECT * FROM waits WHERE id = ?", row.waitIn);
  const answer = one("SELECT * FROM answers WHERE wait = ?", row.answerIn);
  const waitOf = ({ body }: StoredEvent) => {
    const { data } = NamesWait.safeParse(JSON.parse(body ?? "null"));
    const id = data === undefined ? undefined : idInName(salt, "ask" in data ? data.ask : data.wait);
    return id === undefined ? undefined : wait(id);
  };
  const asked = (event: StoredEvent, { answered }: { readonly answered: boolean }): EventRecord => {
    const found = waitOf(event);
    if (found === undefined) return event;
    const given = answered ? answer(found.id) : undefined;
    return { ...event, wait: found, ...(given === undefined ? {} : { answer: given }) };
  };
  return (event) => {
    if (event.type === "task.created") return withRow(event, "made", task(event.task));
    if (event.type === "ask.raised" || event.type === "wait.opened") return asked(event, { answered: false });
    if (event.type === "ask.answered") return asked(event, { answered: true });
    return endsTask(event.type) ? withRow(event, "result", result(event.task)) : event;
  };
}

/** About how long it is as JSON, with the rows that it points at. */
export function recordLength({ key, body, made, result, wait, answer }: EventRecord): number {
  const bodies = [body, made?.body, result?.body, wait?.body, answer?.body];
  return bodies.reduce((sum, each) => sum + (each?.length ?? 0), 100 + key.length);
}

function withRow<K extends "made" | "result">(event: StoredEvent, name: K, found: EventRecord[K]): EventRecord {
  return found === undefined ? event : { ...event, [name]: found };
}

function endsTask(type: StoredEvent["type"]): boolean {
  const status = type.startsWith("task.") ? TaskStatus.safeParse(type.slice("task.".length)).data : undefined;
  return status !== undefined && isTerminal(status);
}
