// Threads in the database of a state folder: what the process that works there writes and looks up.
import type { DatabaseSync } from "node:sqlite";

import { TuttiError } from "../../protocol/error.ts";
import type { ThreadEntry, ThreadRecords, ThreadRow } from "../threads.ts";
import { integer, integerOrNull, type RowReader, text, textOrNull } from "./rows.ts";
import { readsOver } from "./statements.ts";
import type { WriteQueue } from "./writer.ts";

export const threadIn: RowReader<ThreadRow> = (row) => {
  const kind = text(row, "kind");
  if (kind !== "agent" && kind !== "manager") throw new TuttiError("corrupt", `a thread of the kind ${kind}`);
  return {
    id: integer(row, "id"),
    name: textOrNull(row, "name"),
    project: text(row, "project"),
    kind,
    created_at: integer(row, "created_at"),
    said_at: integer(row, "said_at"),
    forked_from: integerOrNull(row, "forked_from"),
  };
};

export const threadEntryIn: RowReader<ThreadEntry> = (row) => ({
  thread: integer(row, "thread"),
  position: integer(row, "position"),
  task: integer(row, "task"),
  until: integerOrNull(row, "until"),
});

export function threadRecordsOver(
  database: DatabaseSync,
  path: string,
  { writer, nextId }: { readonly writer: WriteQueue; readonly nextId: () => number },
): ThreadRecords {
  const { one } = readsOver(database, path);
  return {
    addThread({ name, project, kind, created_at, said_at, forked_from }) {
      const id = nextId();
      writer.push("addThread", [id, name, project, kind, created_at, said_at, forked_from]);
      return id;
    },
    addThreadEntry({ thread, position, task, until }, saidAt) {
      writer.push("addThreadEntry", [thread, position, task, until]);
      writer.push("touchThread", [saidAt, thread]);
    },
    copyThreadEntries({ from, to }, { position, until }) {
      writer.push("copyThreadEntries", [to, from, position, until]);
    },
    touchThreads: (task, saidAt) => writer.push("touchThreadsOf", [saidAt, task]),
    thread: one("SELECT * FROM threads WHERE id = ?", threadIn),
    threadNamed: one("SELECT * FROM threads WHERE project = ? AND name = ? ORDER BY id LIMIT 1", threadIn),
    threadEntryOf: one("SELECT * FROM thread_entries WHERE task = ? ORDER BY thread LIMIT 1", threadEntryIn),
    threadEntryAt: one("SELECT * FROM thread_entries WHERE thread = ? AND position = ?", threadEntryIn),
    lastThreadEntry: one("SELECT * FROM thread_entries WHERE thread = ? ORDER BY position DESC LIMIT 1", threadEntryIn),
  };
}
