// What a store keeps of threads: their names, and which root tasks were said into each, in order. The messages are the tasks' own.

import type { TaskStatus } from "../protocol/task/task-status.ts";

/** Whom a thread is held with: agents, one task for each thing that is said, or the manager, in one task. */
type ThreadKind = "agent" | "manager";

export interface ThreadRow {
  readonly id: number;
  /** Unique in its project; null for a thread that is found by its id alone. */
  readonly name: string | null;
  /** The folder of its project; empty when it belongs to none. */
  readonly project: string;
  readonly kind: ThreadKind;
  readonly created_at: number;
  /** When something was said in it last. */
  readonly said_at: number;
  /** The thread that it is a copy of, up to a message. */
  readonly forked_from: number | null;
}

export interface ThreadEntry {
  readonly thread: number;
  /** Counted from 1, without gaps. */
  readonly position: number;
  /** A root task. */
  readonly task: number;
  /** In a fork: the sequence of the last message of the task that belongs to the thread, 0 for its first; null for all. */
  readonly until: number | null;
}

/** The part of the store that writes threads. Writes of one tick are one commit with those of tasks. */
export interface ThreadRecords {
  addThread(row: Omit<ThreadRow, "id">): number;
  /** Sets `said_at` of the thread, too. */
  addThreadEntry(entry: ThreadEntry, saidAt: number): void;
  /** The entries of one thread up to a position become those of another, the last one up to `until`. */
  copyThreadEntries(
    threads: { readonly from: number; readonly to: number },
    last: Omit<ThreadEntry, "thread" | "task">,
  ): void;
  /** Something was said in this task, which is an entry of a thread. */
  touchThreads(task: number, saidAt: number): void;
  thread(id: number): ThreadRow | undefined;
  threadNamed(project: string, name: string): ThreadRow | undefined;
  lastThreadEntry(thread: number): ThreadEntry | undefined;
  /** Where the root task was said: its own thread, not a fork of that. */
  threadEntryOf(task: number): ThreadEntry | undefined;
  threadEntryAt(thread: number, position: number): ThreadEntry | undefined;
}

export interface ThreadListing extends ThreadRow {
  /** How many tasks were said into it. */
  readonly entries: number;
  readonly first_task: number | null;
  readonly last_task: number | null;
  readonly last_status: TaskStatus | null;
}

export interface ThreadFilter {
  readonly limit: number;
  /** The last thread of the page before. */
  readonly after?: Pick<ThreadRow, "id" | "said_at"> | undefined;
  readonly project?: string | undefined;
  readonly name?: string | undefined;
}

/** An entry with what is needed to read its messages. */
export interface ThreadEntryListing extends ThreadEntry {
  /** Of the speaker. */
  readonly status: TaskStatus;
  /** The task whose messages are those of the thread: the target of an invocation, or the root task itself. */
  readonly speaker: number;
  /** Messages of earlier attempts of the speaker are not part of the conversation. */
  readonly since: number;
}

/** What can be looked at beside the process that writes. */
export interface ThreadReads {
  /** The one in which something was said last comes first. */
  threads(filter: ThreadFilter): Promise<{ readonly rows: ThreadListing[]; readonly more: boolean }>;
  threadListing(id: number): Promise<ThreadListing | undefined>;
  /** Where the root task was said: its own thread, not a fork of that. */
  threadOfTask(root: number): Promise<ThreadEntry | undefined>;
  /** After the position, in order. */
  threadEntries(
    thread: number,
    page: { readonly after: number; readonly limit: number },
  ): Promise<ThreadEntryListing[]>;
  /** Before the position, the latest first. */
  threadEntriesBefore(
    thread: number,
    page: { readonly before: number; readonly limit: number },
  ): Promise<ThreadEntryListing[]>;
}
