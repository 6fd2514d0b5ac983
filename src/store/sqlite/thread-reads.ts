// Reads threads and their entries without taking the lock of the state folder.
import type { DatabaseSync, SQLInputValue } from "node:sqlite";

import type { ThreadEntryListing, ThreadFilter, ThreadListing, ThreadReads } from "../threads.ts";
import { integer, integerOrNull, type RowReader, statusIn, textOrNull } from "./rows.ts";
import { readsOver } from "./statements.ts";
import { threadEntryIn, threadIn } from "./thread-records.ts";

/** The task that does what an entry asks for. After an attempt that was given up, the target of the next one is the last child. */
const speaker = `IFNULL(CASE WHEN tasks.kind = 'invocation'
  THEN (SELECT id FROM tasks AS target WHERE target.parent = said.task ORDER BY id DESC LIMIT 1) END, said.task)`;
const withStatus = `LEFT JOIN results ON results.task = rows.speaker LEFT JOIN open ON open.task = rows.speaker`;
const status = "IFNULL(results.status, open.status) AS status";

const listed = (condition: string): string => `SELECT rows.*, ${status} FROM (
    SELECT threads.*, said.position AS entries, said.task AS last_task, ${speaker} AS speaker,
      (SELECT task FROM thread_entries WHERE thread = threads.id AND position = 1) AS first_task
    FROM threads LEFT JOIN thread_entries AS said ON said.thread = threads.id
      AND said.position = (SELECT MAX(position) FROM thread_entries WHERE thread = threads.id)
    LEFT JOIN tasks ON tasks.id = said.task WHERE ${condition}) AS rows ${withStatus}`;

export const threadListingIn: RowReader<ThreadListing> = (row) => ({
  ...threadIn(row),
  entries: integerOrNull(row, "entries") ?? 0,
  first_task: integerOrNull(row, "first_task"),
  last_task: integerOrNull(row, "last_task"),
  last_status: textOrNull(row, "status") === null ? null : statusIn(row),
});

const entriesOf = (condition: string, order: string): string => `SELECT rows.*, ${status},
    (SELECT IFNULL(body ->> '$.since', attempt) FROM runs WHERE task = speaker ORDER BY attempt DESC, run DESC LIMIT 1) AS since
  FROM (SELECT said.*, ${speaker} AS speaker FROM thread_entries AS said JOIN tasks ON tasks.id = said.task
    WHERE said.thread = ? AND ${condition} ORDER BY ${order} LIMIT ?) AS rows ${withStatus} ORDER BY rows.${order}`;

export const entryListingIn: RowReader<ThreadEntryListing> = (row) => ({
  ...threadEntryIn(row),
  status: statusIn(row),
  speaker: integer(row, "speaker"),
  since: integerOrNull(row, "since") ?? 1,
});

export function threadReadsOver(database: DatabaseSync, path: string): ThreadReads {
  const { all, one } = readsOver(database, path);
  const listing = one(listed("threads.id = ?"), threadListingIn);
  const ofRoot = one("SELECT * FROM thread_entries WHERE task = ? ORDER BY thread LIMIT 1", threadEntryIn);
  const after = all(entriesOf("said.position > ?", "position"), entryListingIn);
  const before = all(entriesOf("said.position < ?", "position DESC"), entryListingIn);
  const lists = new Map<string, (...values: SQLInputValue[]) => ThreadListing[]>();
  const list = (filter: ThreadFilter): ThreadListing[] => {
    const { sql, values } = conditions(filter);
    let find = lists.get(sql);
    if (find === undefined) lists.set(sql, (find = all(sql, threadListingIn)));
    return find(...values, filter.limit + 1);
  };
  return {
    async threads(filter) {
      const rows = list(filter);
      return { rows: rows.slice(0, filter.limit), more: rows.length > filter.limit };
    },
    threadListing: async (id) => listing(id),
    threadOfTask: async (root) => ofRoot(root),
    threadEntries: async (thread, page) => after(thread, page.after, page.limit),
    threadEntriesBefore: async (thread, page) => before(thread, page.before, page.limit),
  };
}

function conditions({ after, project, name }: ThreadFilter): {
  readonly sql: string;
  readonly values: SQLInputValue[];
} {
  const values: SQLInputValue[] = [];
  const when = (condition: string, ...given: (SQLInputValue | undefined)[]): string => {
    const known = given.filter((value) => value !== undefined);
    if (known.length < given.length) return "";
    values.push(...known);
    return ` AND ${condition}`;
  };
  const condition = [
    "TRUE",
    when("(threads.said_at, threads.id) < (?, ?)", after?.said_at, after?.id),
    when("threads.project = ?", project),
    when("threads.name = ?", name),
    " ORDER BY threads.said_at DESC, threads.id DESC LIMIT ?",
  ].join("");
  return { sql: `${listed(condition)} ORDER BY rows.said_at DESC, rows.id DESC`, values };
}
