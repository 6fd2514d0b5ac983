// Serves the workers of operators. The worker service checks their secret for every operation; its refusals become HTTP errors here.

import type { WorkerReply } from "../../operators/worker-reply.ts";
import type { Caller } from "../authorize.ts";
import type { HttpContext } from "../context.ts";
import type { Handlers } from "../handler.ts";
import type { HttpError } from "../http-error.ts";
import { workerError } from "../worker-error.ts";

type WorkerRoute = "workerPrompt" | "workerResult" | "workerSubmit" | "workerEvents" | "workerAsk";

export function workerHandlers({ state: { workers } }: HttpContext): Pick<Handlers, WorkerRoute> {
  return {
    workerPrompt: async ({ caller, query }) => replyOf(await workers.prompt(bearerOf(caller), query)),
    workerResult: async ({ caller, body }) => replyOf(await workers.result(bearerOf(caller), body)),
    workerSubmit: async ({ caller, body, query }) => replyOf(await workers.submit(bearerOf(caller), body, query)),
    workerEvents: async ({ caller, body }) => replyOf(await workers.events(bearerOf(caller), body)),
    workerAsk: async ({ caller, body, signal }) => replyOf(await workers.ask(bearerOf(caller), body, signal)),
  };
}

function bearerOf(caller: Caller): string | undefined {
  return caller.kind === "worker" ? caller.bearer : undefined;
}

function replyOf<T>(reply: WorkerReply<T>): { readonly value: T } | { readonly error: HttpError } {
  if (reply.ok) return { value: reply.value };
  return { error: workerError(reply) };
}
