// Controls and observes the sessions of tasks.

import type { HttpContext } from "../context.ts";
import type { Handlers } from "../handler.ts";
import { answererOf } from "./answerer.ts";

type SessionRoute = "sessions" | "observe" | "stopTask" | "killTask" | "resumeTask";

export function sessionHandlers({ state: { client } }: HttpContext): Pick<Handlers, SessionRoute> {
  return {
    sessions: async ({ query }) => ({ value: await client.sessionPage(query) }),
    observe: async ({ params, query }) => ({ value: await client.observe(params.task, query) }),
    stopTask: async ({ params, body }) => ({
      value: { stopped: true, task: await client.stopTask(params.task, body.reason) },
    }),
    killTask: async ({ params, body }) => ({ value: await client.killTask(params.task, body.reason) }),
    resumeTask: async ({ params, caller }) => ({
      value: { resumed: true, task: await client.resumeTask(params.task, answererOf(caller)) },
    }),
  };
}
