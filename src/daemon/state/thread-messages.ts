// Reads the messages of threads from the records of their tasks: for the next task, for people, and to find one message.

import { z } from "zod";

import { nextAfterSummary } from "../../agent/loop/compact-conversation.ts";
import { isSummary } from "../../agent/loop/message-keys.ts";
import { type SaidTask, threadHistory } from "../../agent/loop/thread-history.ts";
import type { ForkPoint } from "../../engine/thread-starts.ts";
import { messageIn } from "../../engine/recorded-message.ts";
import { taskBodyIn } from "../../engine/task-body.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { completeMessage, type CompleteMessage, Message } from "../../protocol/task/message.ts";
import { idInName, type Salt, taskName } from "../../store/names.ts";
import type { StoredEvent } from "../../store/store.ts";
import type { ThreadEntryListing } from "../../store/threads.ts";
import type { StoreView } from "../../store/view.ts";

/** How many entries are read at a time. */
const entriesAtOnce = 20;
const rowsAtOnce = 500;
/** In characters, for each read of rows. */
const longestRead = 1024 * 1024;
/** In characters: more of one task is not kept for the next one, which would not be shown it either. */
const longestHistory = 8 * 1024 * 1024;

/** A message with its place in its task: 0 for the first one, which the task began with, otherwise its sequence. */
export interface PlacedMessage {
  readonly seq: number;
  readonly message: CompleteMessage;
  /** Of a summary: the first message that it does not cover. */
  readonly next?: string | undefined;
}

type EntryReads = Pick<StoreView, "salt" | "messages" | "taskRow">;

/** What was said in the thread of the task before its tree; nothing for a task that belongs to no thread. */
export async function historyBefore(view: StoreView, task: TaskId): Promise<CompleteMessage[]> {
  const id = idInName(view.salt, task);
  const place = id === undefined ? undefined : await view.place(id);
  const entry = place === undefined ? undefined : await view.threadOfTask(place.root);
  if (entry === undefined || entry.position === 1) return [];
  const { thread, position } = entry;
  // What the agent of the thread calls are tasks of their own, which see nothing of it.
  const [own] = await view.threadEntriesBefore(thread, { before: position + 1, limit: 1 });
  return own?.speaker === id ? threadHistory(saidBefore(view, entry)) : [];
}

async function* saidBefore(
  view: StoreView,
  { thread, position }: Pick<ThreadEntryListing, "thread" | "position">,
): AsyncGenerator<SaidTask> {
  for (let before = position; before > 1;) {
    const entries = await view.threadEntriesBefore(thread, { before, limit: entriesAtOnce });
    for (const entry of entries) yield saidIn(view, entry);
    before = entries.at(-1)?.position ?? 1;
  }
}

async function saidIn(view: EntryReads, entry: ThreadEntryListing): Promise<SaidTask> {
  const opening = await openingOf(view, entry.task);
  const messages = await latestOf(view, entry);
  return {
    task: taskName(view.salt, entry.speaker),
    opening,
    messages: messages.map(({ message }) => message),
    folds: new Map(messages.flatMap(({ message, next }) => (next === undefined ? [] : [[message.id, next]]))),
    ended: opening === undefined || entry.until !== null ? undefined : endOf(entry),
  };
}

/** The latest messages of an entry, as many as may be in memory, with the last summary before them. */
async function latestOf(view: EntryReads, entry: ThreadEntryListing): Promise<PlacedMessage[]> {
  let summary: PlacedMessage | undefined;
  let latest: PlacedMessage[] = [];
  let from = 0;
  let length = 0;
  for await (const placed of placedIn(view, entry, { after: 0, atOnce: rowsAtOnce })) {
    latest.push(placed);
    for (length += lengthOf(placed); length > longestHistory && from < latest.length - 1; from += 1) {
      const dropped = latest[from];
      if (dropped === undefined) break;
      length -= lengthOf(dropped);
      if (isSummary(dropped.message.id)) summary = dropped;
    }
    if (from < rowsAtOnce) continue;
    latest = latest.slice(from);
    from = 0;
  }
  return [...(summary === undefined ? [] : [summary]), ...latest.slice(from)];
}

function endOf({ status }: ThreadEntryListing): SaidTask["ended"] {
  return status === "failed" || status === "canceled" ? status : undefined;
}

/** Which messages of an entry are read. */
interface EntryPart {
  /** Only messages after this sequence; -1 for all of them. */
  readonly after: number;
  readonly limit: number;
  /** In characters. The message after the one that reaches it is the last one. */
  readonly maxLength: number;
}

/** The messages of an entry that belong to its thread, in order. */
export async function messagesOfEntry(
  view: EntryReads,
  entry: ThreadEntryListing,
  { after, limit, maxLength }: EntryPart,
): Promise<PlacedMessage[]> {
  const found: PlacedMessage[] = [];
  const opening = after >= 0 ? undefined : await openingOf(view, entry.task);
  if (opening !== undefined) {
    const id = `${taskName(view.salt, entry.speaker)}.opening`;
    found.push({ seq: 0, message: completeMessage(opening.message, { id, now: opening.at }) });
  }
  if (limit <= found.length) return found;
  let length = found.reduce((sum, each) => sum + lengthOf(each), 0);
  const atOnce = Math.min(rowsAtOnce, limit);
  for await (const placed of placedIn(view, entry, { after: Math.max(after, 0), atOnce })) {
    found.push(placed);
    if (found.length >= limit || length >= maxLength) break;
    length += lengthOf(placed);
  }
  return found;
}

/** The length that a message has in a reply. */
export function lengthOf({ message }: Pick<PlacedMessage, "message">): number {
  return JSON.stringify(message).length;
}

/** Finds the message by its id, from the end of the thread; undefined when there is none. */
export async function findMessage(view: StoreView, thread: number, message: string): Promise<ForkPoint | undefined> {
  for (let before = Number.MAX_SAFE_INTEGER; before > 1;) {
    const entries = await view.threadEntriesBefore(thread, { before, limit: entriesAtOnce });
    for (const entry of entries) {
      const until = await lastWithId(view, entry, message);
      if (until !== undefined) return { position: entry.position, until };
    }
    before = entries.at(-1)?.position ?? 1;
  }
  return undefined;
}

/** The sequence of the last message with the id in an entry. */
async function lastWithId(view: EntryReads, entry: ThreadEntryListing, id: string): Promise<number | undefined> {
  const [opening] = await messagesOfEntry(view, entry, { after: -1, limit: 1, maxLength: 0 });
  let at = opening?.message.id === id ? opening.seq : undefined;
  for await (const { seq, message } of placedIn(view, entry, { after: 0, atOnce: rowsAtOnce })) {
    if (message.id === id) at = seq;
  }
  return at;
}

/** One message after the other, so that a long task is never in memory as a whole. */
async function* placedIn(
  view: EntryReads,
  { speaker, since, until }: ThreadEntryListing,
  { after, atOnce }: { readonly after: number; readonly atOnce: number },
): AsyncGenerator<PlacedMessage> {
  for (let from = after; ;) {
    const page = await view.messages(speaker, { after: from, limit: atOnce, maxLength: longestRead });
    for (const line of page.rows) {
      if (until !== null && line.seq > until) return;
      if (line.attempt >= since) yield placed(view.salt, line);
    }
    from = page.rows.at(-1)?.seq ?? from;
    if (!page.more) return;
  }
}

function placed(salt: Salt, line: StoredEvent): PlacedMessage {
  const { seq, body } = line;
  const message = messageIn(body, { ...line, task: taskName(salt, line.task) });
  return isSummary(message.id)
    ? { seq, message, next: nextAfterSummary(JSON.parse(body ?? "null")) }
    : { seq, message };
}

const Invoked = z.object({ invocation: z.object({ targets: z.array(z.object({ message: Message })).min(1) }) });
const Asked = z.object({ message: Message });

/** What an invocation or an agent was asked. A conversation with the manager records all that is said in it. */
async function openingOf(view: Pick<StoreView, "taskRow">, root: number): Promise<SaidTask["opening"]> {
  const row = await view.taskRow(root);
  if (row === undefined) return undefined;
  const { input } = taskBodyIn(row.body);
  const message = Invoked.safeParse(input).data?.invocation.targets[0]?.message ?? Asked.safeParse(input).data?.message;
  return message === undefined ? undefined : { message, at: message.created_at ?? row.created_at };
}
