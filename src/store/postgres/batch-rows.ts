// Turns what was written in one tick into what one commit leaves: rows table by table, and shared changes in their order.

import type { SQLInputValue } from "node:sqlite";

import { stepKinds } from "../sqlite/rows.ts";
import type { WriteName } from "../sqlite/writes.ts";
import { batchColumns, type BatchTable } from "./batch-columns.ts";
import { binaryArray } from "./binary-array.ts";
import { storedText } from "./stored-text.ts";

/** What a node writes: what any store does, where trees may run, what becomes of the commands of others, and its operators. */
export type NodeWrite = WriteName | "takeCommand" | "endCommand" | "placeOperator" | "leavePlace" | "placeTree";

export interface Write {
  readonly name: NodeWrite;
  readonly values: SQLInputValue[];
}

type Values = SQLInputValue[];
type Plain = string | number | null;

/** Rows that are only added, by the write that adds them. */
const additions = {
  addTask: "tasks",
  addRequest: "request_previews",
  addResult: "results",
  addPreview: "result_previews",
  addRun: "runs",
  addStepStart: "step_starts",
  addTimer: "timers",
  addWait: "waits",
  addMail: "mail",
} as const satisfies Partial<Record<WriteName, BatchTable>>;

const lines: ReadonlySet<NodeWrite> = new Set(["addLog", "addMailLog", "addEvent"]);
const eventKind = stepKinds.indexOf("event");
const typeAt = batchColumns.log.findIndex(({ name }) => name === "type");

/** Rows of trees that change. Of each, what the writes of the batch leave. */
interface Changes {
  readonly status: Map<SQLInputValue, { added: boolean; status: SQLInputValue }>;
  readonly ended: Set<SQLInputValue>;
  readonly notes: Map<string, Values>;
  readonly unanswered: Set<SQLInputValue>;
  readonly answers: Map<SQLInputValue, Values[]>;
  readonly settled: Map<SQLInputValue, Values>;
  readonly resumes: Map<SQLInputValue, SQLInputValue>;
  readonly keys: Map<string, Values>;
}

type Change = (changes: Changes, values: Values) => void;

const changing = {
  addOpen: ({ status }, [task = null]) => void status.set(task, { added: true, status: "pending" }),
  setStatus: ({ status }, [moved = null, task = null]) =>
    void status.set(task, { added: status.get(task)?.added ?? false, status: moved }),
  dropOpen: ({ status, ended }, [task = null]) => {
    if (status.get(task)?.added !== true) ended.add(task);
    status.delete(task);
  },
  noteStepStart: ({ notes }, [note = null, run = null, key = null]) =>
    void notes.set(`${Number(run)} ${encoded(key)}`, [run, key, note]),
  addAnswer: ({ answers }, values) => {
    const [wait = null] = values;
    answers.set(wait, [...(answers.get(wait) ?? []), values]);
  },
  dropAnswer: ({ answers, unanswered }, [wait = null]) => {
    answers.delete(wait);
    unanswered.add(wait);
  },
  setSettled: ({ settled }, [value = null, wait = null]) => void settled.set(wait, [wait, value]),
  setResumes: ({ resumes }, [task = null, count = null]) => void resumes.set(task, count),
  dropResumes: ({ resumes }, [task = null]) => void resumes.set(task, 0),
  bindKey: ({ keys }, values) => void keys.set(encoded(values[0] ?? null), values),
} satisfies Partial<Record<WriteName, Change>>;

/** Writes about rows that belong to trees. All others change shared rows. */
export type TreeWrite =
  | keyof typeof additions
  | keyof typeof changing
  | "addLog"
  | "addMailLog"
  | "addEvent"
  | "placeTree";
const tableOf: Partial<Record<NodeWrite, BatchTable>> = additions;
const changeOf: Partial<Record<NodeWrite, Change>> = changing;

export function isTreeWrite(name: NodeWrite): name is TreeWrite {
  return name in additions || name in changing || lines.has(name) || name === "placeTree";
}

/** The line of the log that a write adds; undefined when it adds none. */
function lineOf({ name, values }: Write): Values | undefined {
  if (name === "addLog") return [...values, null];
  if (name === "addMailLog") return values;
  if (name !== "addEvent") return undefined;
  const [id = null, run = null, key = null, at = null, type = null, body = null] = values;
  return [id, run, key, at, eventKind, type, 0, 0, 0, body, null, null];
}

/** What one batch leaves in the database. */
export interface BatchRows {
  /** By table; only those that have rows. */
  readonly tables: ReadonlyMap<BatchTable, readonly Values[]>;
  /** The place of each line of the log among the events of the batch; null for one that is no event. */
  readonly places: readonly (number | null)[];
  readonly events: number;
  /** Changes of shared rows, in their order. */
  readonly shared: readonly (readonly [NodeWrite, readonly Plain[]])[];
}

/** `closed`: roots of trees that are over. */
export function rowsOf(writes: readonly Write[], closed: Iterable<number>): BatchRows {
  const tables = new Map<BatchTable, Values[]>();
  const add = (table: BatchTable, row: Values): void => {
    const rows = tables.get(table);
    if (rows === undefined) tables.set(table, [row]);
    else rows.push(row);
  };
  const places: (number | null)[] = [];
  let events = 0;
  const shared: [NodeWrite, Plain[]][] = [];
  let changes: Changes | undefined;
  for (const write of writes) {
    const { name, values } = write;
    const [line, table] = [lineOf(write), tableOf[name]];
    if (line !== undefined) {
      add("log", line);
      places.push(line[typeAt] === null ? null : (events += 1) - 1);
    } else if (table !== undefined) add(table, values);
    else if (name === "placeTree") add("placed", values);
    else if (changeOf[name] !== undefined) changeOf[name]((changes ??= noChanges()), values);
    else shared.push([name, values.map(plain)]);
  }
  if (changes !== undefined) addChanges(add, changes);
  for (const root of closed) add("closed", [root]);
  return { tables, places, events, shared };
}

function noChanges(): Changes {
  return {
    status: new Map(),
    ended: new Set(),
    notes: new Map(),
    unanswered: new Set(),
    answers: new Map(),
    settled: new Map(),
    resumes: new Map(),
    keys: new Map(),
  };
}

function addChanges(add: (table: BatchTable, row: Values) => void, changes: Changes): void {
  for (const [task, { added, status }] of changes.status) add(added ? "opened" : "moved", [task, status]);
  for (const task of changes.ended) add("ended", [task]);
  for (const note of changes.notes.values()) add("notes", note);
  for (const wait of changes.unanswered) add("unanswered", [wait]);
  for (const given of changes.answers.values()) for (const answer of given) add("answers", answer);
  for (const each of changes.settled.values()) add("settled", each);
  for (const [task, count] of changes.resumes) {
    if (count === 0) add("not_resumed", [task]);
    else add("resumes", [task, count]);
  }
  for (const key of changes.keys.values()) add("keys", key);
}

/** The rows of these tables as arrays, one for each column. */
export function arraysOf({ tables }: BatchRows, of: readonly BatchTable[]): Buffer[] {
  return of.flatMap((table) => {
    const rows = tables.get(table) ?? [];
    return batchColumns[table].map(({ type }, at) => {
      const values = rows.map((row) => plain(row[at] ?? null));
      return binaryArray(type, values);
    });
  });
}

/** A value as the database can take it. */
export function plain(value: SQLInputValue): Plain {
  if (typeof value === "string") return storedText(value);
  return typeof value === "number" ? value : null;
}

function encoded(value: SQLInputValue): string {
  return typeof value === "string" ? storedText(value) : "";
}
