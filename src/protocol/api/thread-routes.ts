// The routes of threads. Something is said into a thread by an invocation that names it.

import { jsonBody, jsonReply, route } from "./route-shape.ts";
import * as shapes from "./thread-shapes.ts";

export const threadRoutes = {
  threads: route({
    method: "GET",
    path: "/v1/threads",
    tag: "threads",
    about: "Threads, in pages; the one in which something was said last comes first",
    access: "viewer",
    query: shapes.ThreadListQuery,
    reply: jsonReply(shapes.ThreadPage),
  }),
  beginThread: route({
    method: "POST",
    path: "/v1/threads",
    tag: "threads",
    about: "Make a thread that begins with a task that is there already, or find the one that the task is in",
    access: "operator",
    body: jsonBody(shapes.BeginThread),
    reply: { type: "json", status: 201, schema: shapes.ThreadView },
    refuses: [404, 409],
  }),
  latestThread: route({
    method: "POST",
    path: "/v1/threads/latest",
    tag: "threads",
    about: "Find the thread of what an agent was asked last in a project; a task that is in none begins one",
    access: "operator",
    body: jsonBody(shapes.LatestThread),
    reply: jsonReply(shapes.ThreadView),
    refuses: [404],
  }),
  thread: route({
    method: "GET",
    path: "/v1/threads/{thread}",
    tag: "threads",
    about: "A thread",
    access: "viewer",
    params: shapes.ThreadParams,
    reply: jsonReply(shapes.ThreadView),
    refuses: [404],
  }),
  threadMessages: route({
    method: "GET",
    path: "/v1/threads/{thread}/messages",
    tag: "threads",
    about: "What was said in a thread, oldest first, in pages",
    access: "viewer",
    params: shapes.ThreadParams,
    query: shapes.ThreadMessagesQuery,
    reply: jsonReply(shapes.ThreadMessagePage),
    refuses: [404],
  }),
  forkThread: route({
    method: "POST",
    path: "/v1/threads/{thread}/fork",
    tag: "threads",
    about: "Copy a thread, whole or up to one of its messages; both go on by themselves",
    access: "operator",
    params: shapes.ThreadParams,
    body: { ...jsonBody(shapes.ForkThread), optional: true },
    reply: { type: "json", status: 201, schema: shapes.ThreadView },
    refuses: [404, 409],
  }),
};
