// Serves the workers of operators. The worker service checks their secret for every operation; its refusals become HTTP errors here.

import type { ErrorCode } from "../../../protocol/error.ts";
import { workerRefusals } from "../../../protocol/operator/worker.ts";
import type { WorkerReply } from "../../operators/worker-reply.ts";
import type { Caller } from "../authorize.ts";
import type { HttpContext } from "../context.ts";
import type { Handlers } from "../handler.ts";
import { type HttpError, httpError } from "../http-error.ts";

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

const errorCodes = {
  401: "unauthorized",
  403: "refused",
  409: "conflict",
  410: "expired",
  413: "too_large",
  422: "invalid_input",
} as const satisfies Record<number, ErrorCode>;

function replyOf<T>(reply: WorkerReply<T>): { readonly value: T } | { readonly error: HttpError } {
  if (reply.ok) return { value: reply.value };
  const { reason, message } = reply;
  const { status } = workerRefusals[reason];
  return { error: httpError(errorCodes[status], message, { status, extra: { error: reason, message } }) };
}
