// Serves the workers of operators. The worker service checks their secret for every operation; its refusals become HTTP errors here.

import type { WorkerReply } from "../../operators/worker-reply.ts";
import type { WorkerCalls } from "../../operators/worker-service.ts";
import type { Caller } from "../authorize.ts";
import type { HttpContext } from "../context.ts";
import type { Handlers } from "../handler.ts";
import type { HttpError } from "../http-error.ts";
import { workerError } from "../worker-error.ts";

type WorkerRoute = "workerPrompt" | "workerResult" | "workerSubmit" | "workerEvents" | "workerAsk";

export function workerHandlers({ state: { workers } }: HttpContext): Pick<Handlers, WorkerRoute> {
  const of = ({ forwarded }: { readonly forwarded: boolean }): WorkerCalls =>
    forwarded ? (workers.forOtherNodes ?? workers) : workers;
  return {
    workerPrompt: async (request) => replyOf(await of(request).prompt(bearerOf(request.caller), request.query)),
    workerResult: async (request) => replyOf(await of(request).result(bearerOf(request.caller), request.body)),
    workerSubmit: async (request) =>
      replyOf(await of(request).submit(bearerOf(request.caller), request.body, request.query)),
    workerEvents: async (request) => replyOf(await of(request).events(bearerOf(request.caller), request.body)),
    workerAsk: async (request) =>
      replyOf(await of(request).ask(bearerOf(request.caller), request.body, request.signal)),
  };
}

function bearerOf(caller: Caller): string | undefined {
  return caller.kind === "worker" ? caller.bearer : undefined;
}

function replyOf<T>(reply: WorkerReply<T>): { readonly value: T } | { readonly error: HttpError } {
  if (reply.ok) return { value: reply.value };
  return { error: workerError(reply) };
}
