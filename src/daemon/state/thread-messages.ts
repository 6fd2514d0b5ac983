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
import { idInName, taskName } from "../../store/names.ts";
import type { ThreadEntryListing } from "../../store/threads.ts";
import type { StoreView } from "../../store/view.ts";

/** How many entries are read at a time. */
const entriesAtOnce = 20;
/** Of the messages of one task, in rows. A task that said more is cut at its end. */
const mostOfTask = 10_000;
const rowsAtOnce = 500;
/** In characters, for each read of rows. */
const longestRead = 4 * 1024 * 1024;

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
  const { opening, messages } = await entryMessages(view, entry);
  return {
    task: taskName(view.salt, entry.speaker),
    opening,
    messages: messages.map(({ message }) => message),
    folds: new Map(messages.flatMap(({ message, next }) => (next === undefined ? [] : [[message.id, next]]))),
    ended: opening === undefined || entry.until !== null ? undefined : endOf(entry),
  };
}

function endOf({ status }: ThreadEntryListing): SaidTask["ended"] {
  return status === "failed" || status === "canceled" ? status : undefined;
}

/** All messages of an entry that belong to its thread, after a sequence. */
export async function messagesOfEntry(
  view: EntryReads,
  entry: ThreadEntryListing,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<PlacedMessage[]> {
  const { opening, messages } = await entryMessages(view, entry, { after, limit });
  if (opening === undefined || after >= 0) return messages;
  const id = `${taskName(view.salt, entry.speaker)}.opening`;
  return [{ seq: 0, message: completeMessage(opening.message, { id, now: opening.at }) }, ...messages];
}

/** Finds the message by its id, from the end of the thread; undefined when there is none. */
export async function findMessage(view: StoreView, thread: number, message: string): Promise<ForkPoint | undefined> {
  for (let before = Number.MAX_SAFE_INTEGER; before > 1;) {
    const entries = await view.threadEntriesBefore(thread, { before, limit: entriesAtOnce });
    for (const entry of entries) {
      const found = await messagesOfEntry(view, entry, { after: -1, limit: mostOfTask });
      const at = found.findLast((each) => each.message.id === message);
      if (at !== undefined) return { position: entry.position, until: at.seq };
    }
    before = entries.at(-1)?.position ?? 1;
  }
  return undefined;
}

interface EntryMessages {
  readonly opening: SaidTask["opening"];
  readonly messages: PlacedMessage[];
}

async function entryMessages(
  view: EntryReads,
  { task, speaker, since, until }: ThreadEntryListing,
  { after, limit } = { after: 0, limit: mostOfTask },
): Promise<EntryMessages> {
  const opening = await openingOf(view, task);
  const messages: PlacedMessage[] = [];
  for (let from = Math.max(after, 0); messages.length < limit;) {
    const rows = Math.min(rowsAtOnce, limit - messages.length);
    const page = await view.messages(speaker, { after: from, limit: rows, maxLength: longestRead });
    for (const { seq, attempt, body } of page.rows) {
      if (until !== null && seq > until) return { opening, messages };
      if (attempt >= since) messages.push(placed(seq, body ?? "null"));
    }
    from = page.rows.at(-1)?.seq ?? from;
    if (!page.more) break;
  }
  return { opening, messages };
}

function placed(seq: number, body: string): PlacedMessage {
  const message = messageIn(body);
  return isSummary(message.id) ? { seq, message, next: nextAfterSummary(JSON.parse(body)) } : { seq, message };
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
