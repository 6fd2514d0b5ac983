// Reads threads for fronts: lists, one thread, and its messages in pages.

import type { Reader } from "../../client/client.ts";
import {
  ThreadListQuery,
  type ThreadMessagePage,
  ThreadMessagesQuery,
  type ThreadView,
} from "../../protocol/api/thread-shapes.ts";
import { threadFolders, type ThreadProjects } from "../../cluster/thread-projects.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { ThreadId } from "../../protocol/ids.ts";
import { messageText } from "../../protocol/task/message.ts";
import { idInName, taskName, threadName } from "../../store/names.ts";
import type { ThreadListing } from "../../store/threads.ts";
import type { StoreView } from "../../store/view.ts";
import { lengthOf, messagesOfEntry } from "./thread-messages.ts";

/** In characters. The message that reaches it is the last of its page. */
const pageLength = 1024 * 1024;
/** How many entries are looked at for one page; each has at least one message, but for those that are being started. */
const entriesAtOnce = 50;

export async function threadRow(view: StoreView, thread: ThreadId): Promise<ThreadListing> {
  const id = idInName(view.salt, thread);
  const found = id === undefined || !thread.startsWith("thr_") ? undefined : await view.threadListing(id);
  if (found === undefined) throw new TuttiError("not_found", `there is no thread ${thread}`);
  return found;
}

export async function threadView(
  view: StoreView,
  row: ThreadListing,
  projects: Pick<ThreadProjects, "folderOf">,
): Promise<ThreadView> {
  const { salt } = view;
  const { id, name, project, kind, created_at, said_at, entries, last_task, last_status, forked_from } = row;
  return {
    id: threadName(salt, id),
    name,
    project: project === "" ? null : projects.folderOf(project),
    kind,
    about: await aboutOf(view, row),
    created_at,
    said_at,
    tasks: entries,
    last: last_task === null || last_status === null ? null : { task: taskName(salt, last_task), status: last_status },
    forked_from: forked_from === null ? null : threadName(salt, forked_from),
  };
}

async function aboutOf(view: StoreView, { kind, first_task }: ThreadListing): Promise<string> {
  if (first_task === null) return "";
  if (kind === "agent") return (await view.request(first_task)).prompt;
  const [entry] = await firstMessages(view, first_task);
  return entry ?? "";
}

/** The first line of what was said first in a conversation. */
async function firstMessages(view: StoreView, task: number): Promise<string[]> {
  const entry = { thread: 0, position: 1, task, until: null, status: "running", speaker: task, since: 1 } as const;
  const found = await messagesOfEntry(view, entry, { after: 0, limit: 1, maxLength: 0 });
  return found.map(({ message }) => messageText(message).trim().split("\n", 1)[0]?.slice(0, 200) ?? "");
}

export function threadReads(
  view: StoreView,
  projects: ThreadProjects = threadFolders,
): Pick<Reader, "threads" | "thread" | "threadMessages"> {
  return {
    async threads(query = {}) {
      const { limit, cursor, project, named } = ThreadListQuery.parse(query);
      const [said_at, id] = numbersIn(cursor);
      const after = said_at === undefined || id === undefined ? undefined : { said_at, id };
      const { rows, more } = await view.threads({
        limit,
        after,
        project: project === undefined ? undefined : projects.keyOf(project),
        name: named,
      });
      const last = rows.at(-1);
      return {
        threads: await Promise.all(rows.map((row) => threadView(view, row, projects))),
        next: more && last !== undefined ? `${last.said_at}.${last.id}` : null,
      };
    },
    thread: async (thread) => threadView(view, await threadRow(view, thread), projects),
    threadMessages: async (thread, query = {}) => {
      const { limit, cursor } = ThreadMessagesQuery.parse(query);
      const { id } = await threadRow(view, thread);
      // The cursor names the last message that was sent: its entry, and its place there plus one, so that 0 comes before all.
      const [position = 1, place = 0] = numbersIn(cursor);
      return page(view, id, { position, after: place - 1, limit });
    },
  };
}

interface PagePlace {
  readonly position: number;
  readonly after: number;
  readonly limit: number;
}

async function page(
  view: StoreView,
  thread: number,
  { position, after, limit }: PagePlace,
): Promise<ThreadMessagePage> {
  const messages: ThreadMessagePage["messages"] = [];
  let length = 0;
  let from = after;
  for (let at = position - 1; ;) {
    const entries = await view.threadEntries(thread, { after: at, limit: entriesAtOnce });
    for (const entry of entries) {
      const task = taskName(view.salt, entry.speaker);
      const wanted = limit - messages.length + 1;
      const part = { after: from, limit: wanted, maxLength: pageLength - length };
      for (const { seq, message } of await messagesOfEntry(view, entry, part)) {
        if (messages.length === limit || length >= pageLength)
          return { messages, next: `${entry.position}.${from + 1}` };
        messages.push({ task, message });
        length += lengthOf({ message });
        from = seq;
      }
      at = entry.position;
      from = -1;
    }
    if (entries.length < entriesAtOnce) return { messages, next: null };
  }
}

function numbersIn(cursor: string | undefined): number[] {
  return cursor === undefined ? [] : cursor.split(".").map(Number);
}
