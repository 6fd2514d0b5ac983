// Reads rows back into their types; a value of another type means the file is damaged.
import type { SQLOutputValue } from "node:sqlite";

import { TuttiError } from "../../protocol/error.ts";
import { AskKind } from "../../protocol/task/ask.ts";
import { eventTypes } from "../../protocol/task/event-types.ts";
import { TaskStatus, TerminalStatus } from "../../protocol/task/task-status.ts";
import type {
  AnswerRow,
  EventType,
  KeyBinding,
  LogRow,
  MailRow,
  MailSent,
  ResultRow,
  ResumeCount,
  RunRow,
  SaidLine,
  Spent,
  StepKind,
  StepStart,
  StoredEvent,
  TaskRow,
  WaitRow,
} from "../store.ts";
import type { TaskPlace } from "../view.ts";

type Row = Record<string, SQLOutputValue>;
export type RowReader<T> = (row: Row) => T;

/** Stored by position: only ever append. */
export const stepKinds = [
  "ok",
  "failed",
  "unknown",
  "spawned",
  "selected",
  "received",
  "noted",
  "saved",
  "event",
] as const satisfies readonly StepKind[];

/** A task without its record. */
export const taskHeadIn: RowReader<Omit<TaskRow, "body">> = (row) => ({
  id: integer(row, "id"),
  parent: integerOrNull(row, "parent"),
  root: integer(row, "root"),
  depth: integer(row, "depth"),
  kind: text(row, "kind"),
  agent: text(row, "agent"),
  detached: integer(row, "detached") === 1,
  created_at: integer(row, "created_at"),
  deadline: integerOrNull(row, "deadline"),
  shared: integerOrNull(row, "shared"),
});

export const taskIn: RowReader<TaskRow> = (row) => ({ ...taskHeadIn(row), body: text(row, "body") });

export const runIn: RowReader<RunRow> = (row) => ({
  id: integer(row, "id"),
  task: integer(row, "task"),
  attempt: integer(row, "attempt"),
  run: integer(row, "run"),
  body: textOrNull(row, "body"),
});

export const logIn: RowReader<LogRow> = (row) => ({
  id: integer(row, "id"),
  run: integer(row, "run"),
  key: text(row, "key"),
  at: integer(row, "at"),
  kind: kindOf(integer(row, "kind")),
  type: eventTypeOrNull(row),
  input: integer(row, "input"),
  tokens: integer(row, "tokens"),
  money: integer(row, "money"),
  body: textOrNull(row, "body"),
  state: textOrNull(row, "state"),
  mail: integerOrNull(row, "mail"),
});

export const stepStartIn: RowReader<StepStart> = (row) => ({
  run: integer(row, "run"),
  key: text(row, "key"),
  input: integer(row, "input"),
  note: textOrNull(row, "note"),
});

export const keyBindingIn: RowReader<KeyBinding> = (row) => ({
  task: integer(row, "task"),
  content: text(row, "content"),
});

export const waitIn: RowReader<WaitRow> = (row) => ({
  id: integer(row, "id"),
  task: integer(row, "task"),
  root: integer(row, "root"),
  run: integer(row, "run"),
  key: text(row, "key"),
  raised_at: integer(row, "raised_at"),
  due: integer(row, "due"),
  ask: askKindIn(row),
  body: text(row, "body"),
});

export const answerIn: RowReader<AnswerRow> = (row) => {
  const kind = text(row, "kind");
  if (kind !== "answered" && kind !== "expired" && kind !== "withdrawn") throw damaged("kind");
  return { wait: integer(row, "wait"), kind, at: integer(row, "at"), body: textOrNull(row, "body") };
};

export const mailIn: RowReader<MailRow> = (row) => ({
  id: integer(row, "id"),
  task: integer(row, "task"),
  body: text(row, "body"),
});

export const mailSentIn: RowReader<MailSent> = (row) => ({
  count: integer(row, "count"),
  bytes: integer(row, "bytes"),
});

/** Only workers write as the assistant. The data of a question is marked as one. */
export const mailSentSql = `SELECT COUNT(*) AS count, IFNULL(SUM(octet_length(body)), 0) AS bytes FROM mail
  WHERE task = ?1
  AND id > IFNULL((SELECT MAX(mail) FROM log WHERE run IN (SELECT id FROM runs WHERE task = ?1 AND attempt < ?2)), 0)
  AND ?3 = CASE WHEN body ->> '$.role' <> 'assistant' THEN 'message'
    WHEN body ->> '$.parts[0].data.worker_ask' IS NULL THEN 'worker_event' ELSE 'worker_ask' END`;

export const resultIn: RowReader<ResultRow> = (row) => ({
  task: integer(row, "task"),
  status: TerminalStatus.parse(row["status"]),
  at: integer(row, "at"),
  body: text(row, "body"),
});

/** Of `log` joined with its run and its task; the run's state, which can be long, is left where it is. */
export const eventColumns =
  "log.id AS seq, log.key, log.at, log.kind, log.type, log.tokens, log.money, log.body, " +
  "runs.task, runs.attempt, runs.run AS ordinal, tasks.root";

export const eventIn: RowReader<StoredEvent> = (row) => ({
  seq: integer(row, "seq"),
  task: integer(row, "task"),
  root: integer(row, "root"),
  attempt: integer(row, "attempt"),
  run: integer(row, "ordinal"),
  at: integer(row, "at"),
  type: eventTypeOrNull(row) ?? raise(damaged("type")),
  key: text(row, "key"),
  kind: kindOf(integer(row, "kind")),
  tokens: integer(row, "tokens"),
  money: integer(row, "money"),
  body: textOrNull(row, "body"),
});

/** Of `log` joined with its run. */
export const saidColumns = "runs.attempt, runs.run AS ordinal, log.key, log.at, log.body";

export const saidIn: RowReader<SaidLine> = (row) => ({
  attempt: integer(row, "attempt"),
  run: integer(row, "ordinal"),
  key: text(row, "key"),
  at: integer(row, "at"),
  body: textOrNull(row, "body"),
});

export const spentIn: RowReader<Spent> = (row) => ({
  task: integer(row, "task"),
  tokens: integer(row, "tokens"),
  money: integer(row, "money"),
});

export const resumeCountIn: RowReader<ResumeCount> = (row) => ({
  task: integer(row, "task"),
  count: integer(row, "count"),
});

/** A single column named `value`; null, as of an empty MAX, is undefined. */
export const numberIn: RowReader<number | undefined> = (row) => integerOrNull(row, "value") ?? undefined;
export const idIn: RowReader<number> = (row) => integer(row, "value");
/** The key of a setting in the table of facts about the database. */
export const settingKey = (name: string): string => `setting_${name}`;

export const textIn: RowReader<string> = (row) => text(row, "value");
export const eventTypeIn: RowReader<EventType> = (row) => eventTypeOf(text(row, "value"));

/** Of a task that may be over: the status its result or its open row has. */
export const statusIn: RowReader<TaskStatus> = (row) =>
  TaskStatus.safeParse(row["status"]).data ?? raise(damaged("status"));

export const placeIn: RowReader<TaskPlace> = (row) => ({
  id: integer(row, "id"),
  root: integer(row, "root"),
  status: statusIn(row),
});

const knownTypes: ReadonlyMap<string, EventType> = new Map(eventTypes.map((type) => [type, type]));

function eventTypeOf(type: string): EventType {
  return knownTypes.get(type) ?? raise(unknownWord("type", type));
}

function eventTypeOrNull(row: Row): EventType | null {
  const type = textOrNull(row, "type");
  return type === null ? null : eventTypeOf(type);
}

export function askKindIn(row: Row): AskKind | null {
  const kind = textOrNull(row, "ask");
  return kind === null ? null : (AskKind.safeParse(kind).data ?? raise(unknownWord("ask", kind)));
}

function kindOf(position: number): StepKind {
  return stepKinds[position] ?? raise(unknownWord("kind", String(position)));
}

export function integer(row: Row, column: string): number {
  return integerOrNull(row, column) ?? raise(damaged(column));
}

export function integerOrNull(row: Row, column: string): number | null {
  const value = row[column] ?? null;
  return value === null || typeof value === "number" ? value : raise(damaged(column));
}

export function text(row: Row, column: string): string {
  return textOrNull(row, column) ?? raise(damaged(column));
}

export function textOrNull(row: Row, column: string): string | null {
  const value = row[column] ?? null;
  return value === null || typeof value === "string" ? value : raise(damaged(column));
}

function raise(error: TuttiError): never {
  throw error;
}

/** Words of ours that are stored grow with the versions. */
function unknownWord(column: string, word: string): TuttiError {
  return new TuttiError(
    "newer",
    `the database holds a ${column} that this version does not know (${word.slice(0, 40)}): a newer Tutti recorded it, so update this one; or it is damaged, then restore a copy`,
  );
}

export function damaged(column: string): TuttiError {
  return new TuttiError(
    "corrupt",
    `the database is damaged: column ${column} holds something else; restore a copy of it`,
  );
}
