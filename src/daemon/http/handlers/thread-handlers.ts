// Lists, shows, begins and forks threads.

import type { HttpContext } from "../context.ts";
import type { Handlers } from "../handler.ts";

type ThreadRoute = "threads" | "beginThread" | "latestThread" | "thread" | "threadMessages" | "forkThread";

export function threadHandlers({ state: { client } }: HttpContext): Pick<Handlers, ThreadRoute> {
  return {
    threads: async ({ query }) => ({ value: await client.threads(query) }),
    beginThread: async ({ body: { task, ...options } }) => ({ value: await client.beginThread(task, options) }),
    latestThread: async ({ body }) => ({ value: await client.latestThread(body) }),
    thread: async ({ params }) => ({ value: await client.thread(params.thread) }),
    threadMessages: async ({ params, query }) => ({ value: await client.threadMessages(params.thread, query) }),
    forkThread: async ({ params, body }) => ({ value: await client.forkThread(params.thread, body) }),
  };
}
