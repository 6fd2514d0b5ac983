// The queries and bodies of the routes of threads.

import { z } from "zod";

import { TaskId, ThreadId, Time } from "../ids.ts";
import { ThreadName } from "../invocation/thread-ref.ts";
import { CompleteMessage } from "../task/message.ts";
import { TaskStatus } from "../task/task-status.ts";
import { count, nextItem } from "./list-query.ts";

export const ThreadParams = z.strictObject({ thread: ThreadId });

export const ThreadView = z.strictObject({
  id: ThreadId,
  /** Unique in its project; null for a thread that is found by its id alone. */
  name: z.string().nullable(),
  /** The folder of its project; null when it belongs to none. */
  project: z.string().nullable(),
  /** `manager`: a conversation with the manager, which is one task that goes on. */
  kind: z.enum(["agent", "manager"]),
  /** The first line of what was said first, at most 200 characters. */
  about: z.string(),
  created_at: Time,
  /** When something was said in it last. */
  said_at: Time,
  /** How many tasks were said into it, those of the thread that it was forked from included. */
  tasks: z.int().nonnegative(),
  /** The root task that was said last. The status is that of the task that does the work. */
  last: z.strictObject({ task: TaskId, status: TaskStatus }).nullable(),
  forked_from: ThreadId.nullable(),
});
export type ThreadView = z.infer<typeof ThreadView>;

const pair = /^\d{1,15}\.\d{1,15}$/;
const cursor = z.string().regex(pair, "must be the `next` of a page").optional();

export const ThreadListQuery = z.strictObject({
  limit: count(200, 50),
  cursor,
  /** Only those of the project with this folder. */
  project: z.string().min(1).max(4096).optional(),
  /** Only those with this name; each project may have one. */
  named: z.string().min(1).max(200).optional(),
});
export type ThreadListQuery = z.input<typeof ThreadListQuery>;
export const ThreadPage = z.strictObject({ threads: z.array(ThreadView), next: nextItem });
export type ThreadPage = z.infer<typeof ThreadPage>;

export const ThreadMessagesQuery = z.strictObject({ limit: count(1000, 100), cursor });
export type ThreadMessagesQuery = z.input<typeof ThreadMessagesQuery>;

/** The task is the one in which the message was said. */
const ThreadMessage = z.strictObject({ task: TaskId, message: CompleteMessage });
export const ThreadMessagePage = z.strictObject({ messages: z.array(ThreadMessage), next: nextItem });
export type ThreadMessagePage = z.infer<typeof ThreadMessagePage>;

export const BeginThread = z.strictObject({
  /** A root task that was said into no thread; one that was gives its thread. */
  task: TaskId,
  name: ThreadName.optional(),
});
export type BeginThread = z.input<typeof BeginThread>;

export const LatestThread = z.strictObject({
  agent: z.string().min(1).max(256),
  /** An absolute path in the project. */
  folder: z.string().min(1).max(4096),
});
export type LatestThread = z.input<typeof LatestThread>;

export const ForkThread = z.strictObject({
  /** The id of the last message that the fork has; all messages when absent. */
  message: z.string().min(1).max(500).optional(),
  name: ThreadName.optional(),
});
export type ForkThread = z.input<typeof ForkThread>;
