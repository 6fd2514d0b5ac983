// Reads threads and their entries from the database that nodes share.

import { entryListingIn, threadListingIn } from "../sqlite/thread-reads.ts";
import { threadEntryIn } from "../sqlite/thread-records.ts";
import type { ThreadFilter, ThreadReads } from "../threads.ts";
import type { Reads } from "./database-connection.ts";

/** The task that does what an entry asks for. After an attempt that was given up, the target of the next one is the last child. */
const speaker = `COALESCE(CASE WHEN tasks.kind = 'invocation'
  THEN (SELECT id FROM tasks AS target WHERE target.parent = said.task ORDER BY id DESC LIMIT 1) END, said.task)`;
const withStatus = "LEFT JOIN results ON results.task = rows.speaker LEFT JOIN open ON open.task = rows.speaker";
const status = "COALESCE(results.status, open.status) AS status";

const listed = (condition: string): string => `SELECT rows.*, ${status} FROM (
    SELECT threads.*, said.position AS entries, said.task AS last_task, ${speaker} AS speaker,
      (SELECT task FROM thread_entries WHERE thread = threads.id AND position = 1) AS first_task
    FROM threads LEFT JOIN thread_entries AS said ON said.thread = threads.id
      AND said.position = (SELECT MAX(position) FROM thread_entries WHERE thread = threads.id)
    LEFT JOIN tasks ON tasks.id = said.task WHERE ${condition}) AS rows ${withStatus}`;

const entriesOf = (condition: string, order: string): string => `SELECT rows.*, ${status},
    (SELECT COALESCE(text_in(body, '{since}', 20)::bigint, attempt) FROM runs WHERE task = rows.speaker
      ORDER BY attempt DESC, run DESC LIMIT 1) AS since
  FROM (SELECT said.*, ${speaker} AS speaker FROM thread_entries AS said JOIN tasks ON tasks.id = said.task
    WHERE said.thread = $1 AND ${condition} ORDER BY said.${order} LIMIT $3) AS rows ${withStatus} ORDER BY rows.${order}`;

export function threadReadsOver(reads: Reads): ThreadReads {
  return {
    async threads(filter) {
      const { sql, values } = listSql(filter);
      const rows = (await reads.rows(sql, values)).map(threadListingIn);
      return { rows: rows.slice(0, filter.limit), more: rows.length > filter.limit };
    },
    async threadListing(id) {
      const [found] = await reads.rows(listed("threads.id = $1"), [id]);
      return found === undefined ? undefined : threadListingIn(found);
    },
    async threadOfTask(root) {
      const [found] = await reads.rows("SELECT * FROM thread_entries WHERE task = $1 ORDER BY thread LIMIT 1", [root]);
      return found === undefined ? undefined : threadEntryIn(found);
    },
    async threadEntries(thread, { after, limit }) {
      const sql = entriesOf("said.position > $2", "position");
      return (await reads.rows(sql, [thread, after, limit])).map(entryListingIn);
    },
    async threadEntriesBefore(thread, { before, limit }) {
      const sql = entriesOf("said.position < $2", "position DESC");
      return (await reads.rows(sql, [thread, before, limit])).map(entryListingIn);
    },
  };
}

function listSql({ after, project, name, limit }: ThreadFilter): { readonly sql: string; readonly values: unknown[] } {
  const values: unknown[] = [limit + 1];
  const mark = (value: unknown): string => `$${values.push(value)}`;
  const conditions = [
    "TRUE",
    ...(after === undefined ? [] : [`(threads.said_at, threads.id) < (${mark(after.said_at)}, ${mark(after.id)})`]),
    ...(project === undefined ? [] : [`threads.project = ${mark(project)}`]),
    ...(name === undefined ? [] : [`threads.name = ${mark(name)}`]),
  ];
  const condition = `${conditions.join(" AND ")} ORDER BY threads.said_at DESC, threads.id DESC LIMIT $1`;
  return { sql: `${listed(condition)} ORDER BY rows.said_at DESC, rows.id DESC`, values };
}
