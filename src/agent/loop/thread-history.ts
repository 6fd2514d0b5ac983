// What a task that is said into a thread begins with: the conversation of the tasks before it, as it was when the last one ended.

import { snapshotHistory } from "../../core/history.ts";
import { completeMessage, type CompleteMessage, type Message, userMessage } from "../../protocol/task/message.ts";
import { inCallOrder } from "./call-order.ts";
import { isSummary } from "./message-keys.ts";
import { sizeOf } from "./model-view.ts";

/** One task of a thread. */
export interface SaidTask {
  /** The task that did the work; the root while there is none. */
  readonly task: string;
  /** Its first message; undefined where all of its messages were recorded, as in a conversation with the manager. */
  readonly opening: { readonly message: Message; readonly at: number } | undefined;
  /** As they were recorded. */
  readonly messages: readonly CompleteMessage[];
  /** For a summary among them, by its id: the id of the first message that it does not cover. */
  readonly folds: ReadonlyMap<string, string>;
  /** How it ended, if not well. */
  readonly ended: "failed" | "canceled" | undefined;
}

/** A summary of so many messages still fits into a request of most models. */
const mostMessages = 1_000;
/** In characters. */
const mostText = 1_000_000;

/**
 * The messages of the tasks, oldest first, at most so many. A summary stands for what it covers, so what is before that is not
 * read. The messages keep their ids, so that a summary that is made of them can say where it ends.
 */
export async function threadHistory(latestFirst: AsyncIterable<SaidTask>): Promise<CompleteMessage[]> {
  let messages: CompleteMessage[] = [];
  let room = mostText;
  /** A summary that was found, and the message up to which it stands for what was said. */
  let summary: { readonly message: CompleteMessage; readonly next: string | undefined } | undefined;
  for await (const said of latestFirst) {
    let own = messagesOf(said);
    if (summary === undefined) {
      const at = own.findLastIndex(({ id }) => isSummary(id));
      const message = own[at];
      if (message !== undefined) {
        summary = { message, next: said.folds.get(message.id) };
        messages = [...own.slice(at + 1), ...messages];
        own = own.slice(0, at);
      }
    }
    own = own.filter(({ id }) => !isSummary(id));
    const begin = summary === undefined ? -1 : own.findIndex(({ id }) => id === summary?.next);
    const [opening] = said.opening === undefined ? [] : own;
    const isEnough = summary !== undefined && (begin >= 0 || summary.next === undefined);
    if (isEnough) own = summary?.next === undefined ? [] : own.slice(begin);
    messages = [...own, ...messages];
    room -= sizeOf(own);
    // What the task was asked stays before the summary that the task made, as it was in the task itself.
    if (isEnough && summary !== undefined) {
      const isOwn = opening !== undefined && !own.includes(opening) && summary.message.id.startsWith(`${said.task}.`);
      return [...(isOwn ? [opening] : []), summary.message, ...snapshotHistory(within(messages))];
    }
    if (room < 0 || messages.length > mostMessages) break;
  }
  const kept = within(messages);
  if (summary !== undefined) return [summary.message, ...snapshotHistory(kept)];
  const [first] = kept;
  const history = snapshotHistory(kept);
  return kept.length === messages.length || first === undefined ? history : [leftOut(first), ...history];
}

/** The latest messages that fit. */
function within(messages: readonly CompleteMessage[]): readonly CompleteMessage[] {
  let room = mostText;
  let from = messages.length;
  while (from > 0 && messages.length - from < mostMessages) {
    const message = messages[from - 1];
    if (message === undefined) break;
    room -= sizeOf([message]);
    if (room < 0 && from < messages.length) break;
    from -= 1;
  }
  return messages.slice(from);
}

function leftOut({ id, created_at }: CompleteMessage): CompleteMessage {
  const message = userMessage("[The beginning of this thread is left out, because it is too long.]");
  return completeMessage(message, { id: `${id}.left_out`, now: created_at });
}

function messagesOf({ task, opening, messages, ended }: SaidTask): CompleteMessage[] {
  const first =
    opening === undefined ? [] : [completeMessage(opening.message, { id: `${task}.opening`, now: opening.at })];
  const own = [...first, ...inCallOrder(messages)];
  const last = own.at(-1);
  if (ended === undefined || last === undefined) return own;
  // Otherwise the next task might take up what a person has just stopped.
  const note = userMessage(
    `[The work on this ended here: it ${ended === "failed" ? "failed" : "was canceled"}. Do not go on with it unless you are asked to.]`,
  );
  return [...own, completeMessage(note, { id: `${task}.ended`, now: last.created_at })];
}
