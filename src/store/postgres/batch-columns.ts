// The columns that one commit carries, table by table: what the node sends and what the database function takes.

export interface Column {
  readonly name: string;
  readonly type: "bigint" | "int" | "text";
}

export const bigint = (name: string): Column => ({ name, type: "bigint" });
export const int = (name: string): Column => ({ name, type: "int" });
const text = (name: string): Column => ({ name, type: "text" });

/** Rows that are only ever added, in the order of the columns of the embedded store's writes. */
const addedRows = {
  tasks: [
    bigint("id"),
    bigint("parent"),
    bigint("root"),
    int("depth"),
    text("kind"),
    text("agent"),
    int("detached"),
    bigint("created_at"),
    bigint("deadline"),
    bigint("shared"),
    text("body"),
  ],
  request_previews: [bigint("task"), text("text")],
  results: [bigint("task"), text("status"), bigint("at"), text("body")],
  result_previews: [bigint("task"), text("text")],
  runs: [bigint("id"), bigint("task"), int("attempt"), int("run"), text("body")],
  step_starts: [bigint("run"), text("key"), bigint("input"), text("note")],
  timers: [bigint("run"), text("key"), bigint("due")],
  waits: [
    bigint("id"),
    bigint("task"),
    bigint("root"),
    bigint("run"),
    text("key"),
    bigint("raised_at"),
    bigint("due"),
    text("ask"),
    text("body"),
  ],
  mail: [bigint("id"), bigint("task"), text("body")],
  log: [
    bigint("id"),
    bigint("run"),
    text("key"),
    bigint("at"),
    int("kind"),
    text("type"),
    bigint("input"),
    bigint("tokens"),
    bigint("money"),
    text("body"),
    text("state"),
    bigint("mail"),
  ],
} as const satisfies Readonly<Record<string, readonly Column[]>>;

/** Rows that change: of each, what holds at the end of the batch. */
const changedRows = {
  opened: [bigint("task"), text("status")],
  moved: [bigint("task"), text("status")],
  ended: [bigint("task")],
  notes: [bigint("run"), text("key"), text("note")],
  unanswered: [bigint("wait")],
  answers: [bigint("wait"), text("kind"), bigint("at"), text("body")],
  settled: [bigint("wait"), int("settled")],
  resumes: [bigint("task"), int("count")],
  not_resumed: [bigint("task")],
  keys: [text("key"), bigint("task"), text("content")],
  closed: [bigint("root")],
  /** What new trees need, as a JSON list, and whether the node that made them runs them. */
  placed: [bigint("root"), text("needs"), int("here")],
} as const satisfies Readonly<Record<string, readonly Column[]>>;

export const batchColumns: Readonly<Record<BatchTable, readonly Column[]>> = { ...addedRows, ...changedRows };
export type BatchTable = keyof typeof addedRows | keyof typeof changedRows;
export const batchTables: readonly BatchTable[] = [...keysOf(addedRows), ...keysOf(changedRows)];

function keysOf<T extends object>(of: T): (keyof T)[] {
  // The keys of an object literal are exactly those of its type.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.keys(of) as (keyof T)[];
}
