// What workers fetch and post. The records checks their secret for each verb; here its refusals become HTTP's.

import type { ErrorCode } from "../../../protocol/error.ts";
import { workerRefusals } from "../../../protocol/operator/worker.ts";
import type { WorkerReply } from "../../operators/worker-service.ts";
import type { Caller } from "../caller.ts";
import type { HttpContext } from "../context.ts";
import type { Handlers } from "../handler.ts";
import { type Refused, refuse } from "../refused.ts";

type Workers = "workerPrompt" | "workerResult" | "workerSubmit" | "workerEvents" | "workerAsk";

export function workerHandlers({ state: { workers } }: HttpContext): Pick<Handlers, Workers> {
  return {
    workerPrompt: async ({ caller, query }) => told(await workers.prompt(bearerOf(caller), query)),
    workerResult: async ({ caller, body }) => told(await workers.result(bearerOf(caller), body)),
    workerSubmit: async ({ caller, body, query }) => told(await workers.submit(bearerOf(caller), body, query)),
    workerEvents: async ({ caller, body }) => told(await workers.events(bearerOf(caller), body)),
    workerAsk: async ({ caller, body, signal }) => told(await workers.ask(bearerOf(caller), body, signal)),
  };
}

function bearerOf(caller: Caller): string | undefined {
  return caller.kind === "worker" ? caller.bearer : undefined;
}

const codes = {
  401: "unauthorized",
  403: "refused",
  409: "conflict",
  410: "expired",
} as const satisfies Record<number, ErrorCode>;

function told<T>(reply: WorkerReply<T>): { readonly value: T } | { readonly refused: Refused } {
  if (reply.ok) return { value: reply.value };
  const { reason, message } = reply;
  const { status } = workerRefusals[reason];
  return { refused: refuse(codes[status], message, { status, extra: { error: reason, message } }) };
}
