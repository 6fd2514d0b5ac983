// Turns what was written in one tick into the values of one commit: rows table by table, and shared changes in their order.

import type { SQLInputValue } from "node:sqlite";

import { stepKinds } from "../sqlite/rows.ts";
import type { WriteName } from "../sqlite/writes.ts";
import { batchColumns, type BatchTable, batchTables } from "./batch-columns.ts";
import { storedText } from "./stored-text.ts";

/** What a node writes: what any store does, where trees may run, what becomes of the commands of others, and its operators. */
export type NodeWrite = WriteName | "takeCommand" | "endCommand" | "placeOperator" | "leavePlace" | "placeTree";

export interface Write {
  readonly name: NodeWrite;
  readonly values: SQLInputValue[];
}

type Values = SQLInputValue[];

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

/** The arrays of the call that commits step starts and lines alone; undefined when there is anything else in the batch. */
export function stepValuesOf(writes: readonly Write[]): unknown[] | undefined {
  const [starts, added]: [Values[], Values[]] = [[], []];
  for (const write of writes) {
    const line = lineOf(write);
    if (line !== undefined) added.push(line);
    else if (write.name === "addStepStart") starts.push(write.values);
    else return undefined;
  }
  return [...columnsOf("step_starts", starts), ...columnsOf("log", added)];
}

/** The arrays of the call that commits, after the node and the number of the batch. `closed`: roots of trees that are over. */
export function valuesOf(writes: readonly Write[], closed: Iterable<number>): unknown[] {
  const rows: Record<BatchTable, Values[]> = emptyRows();
  const shared: [NodeWrite, (string | number | null)[]][] = [];
  const changes: Changes = {
    status: new Map(),
    ended: new Set(),
    notes: new Map(),
    unanswered: new Set(),
    answers: new Map(),
    settled: new Map(),
    resumes: new Map(),
    keys: new Map(),
  };
  for (const write of writes) {
    const { name, values } = write;
    const [line, table] = [lineOf(write), tableOf[name]];
    if (line !== undefined) rows.log.push(line);
    else if (table !== undefined) rows[table].push(values);
    else if (name === "placeTree") rows.placed.push(values);
    else if (changeOf[name] !== undefined) changeOf[name](changes, values);
    else shared.push([name, values.map(plain)]);
  }
  for (const [task, { added, status }] of changes.status) rows[added ? "opened" : "moved"].push([task, status]);
  for (const task of changes.ended) rows.ended.push([task]);
  rows.notes.push(...changes.notes.values());
  for (const wait of changes.unanswered) rows.unanswered.push([wait]);
  for (const given of changes.answers.values()) rows.answers.push(...given);
  rows.settled.push(...changes.settled.values());
  for (const [task, count] of changes.resumes) {
    if (count === 0) rows.not_resumed.push([task]);
    else rows.resumes.push([task, count]);
  }
  rows.keys.push(...changes.keys.values());
  for (const root of closed) rows.closed.push([root]);
  return [JSON.stringify(shared), ...batchTables.flatMap((table) => columnsOf(table, rows[table]))];
}

function emptyRows(): Record<BatchTable, Values[]> {
  // Every table of the list is given a value.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(batchTables.map((table) => [table, []])) as unknown as Record<BatchTable, Values[]>;
}

function columnsOf(table: BatchTable, rows: readonly Values[]): (string | number | null)[][] {
  return batchColumns[table].map((_, at) => rows.map((row) => plain(row[at] ?? null)));
}

function plain(value: SQLInputValue): string | number | null {
  if (typeof value === "string") return storedText(value);
  return typeof value === "number" ? value : null;
}

function encoded(value: SQLInputValue): string {
  return typeof value === "string" ? storedText(value) : "";
}
