// Questions that wait for a person and calls that wait for their client: listing and settling them.

import type { Delivered } from "../../../client/client.ts";
import type { Answerer } from "../../../protocol/task/ask.ts";
import type { ErrorCode } from "../../../protocol/error.ts";
import type { Caller } from "../caller.ts";
import type { HttpContext } from "../context.ts";
import type { Handlers } from "../handler.ts";
import { type Refused, refuse } from "../refused.ts";

export function askHandlers({
  state: { client },
}: HttpContext): Pick<Handlers, "asks" | "answer" | "waits" | "settleWait"> {
  return {
    asks: async ({ query }) => ({ value: { asks: [...(await client.asks(query.task))] } }),
    answer: async ({ params, body, caller }) => told(await client.answer(params.ask, body, answerer(caller))),
    waits: async ({ query }) => ({ value: { waits: [...(await client.waits(query.task))] } }),
    settleWait: async ({ params, body, caller }) =>
      told(await client.settle(params.wait, body.value, answerer(caller))),
  };
}

/** The key says who speaks. */
function answerer(caller: Caller): Answerer {
  return { kind: "person", name: caller.kind === "key" ? caller.name : caller.kind };
}

const codes = {
  late: "conflict",
  unknown: "not_found",
  invalid: "invalid_input",
} as const satisfies Record<string, ErrorCode>;

function told(delivered: Delivered): { readonly value: { accepted: true } } | { readonly refused: Refused } {
  if (delivered.accepted) return { value: { accepted: true } };
  return { refused: refuse(codes[delivered.code], delivered.message) };
}
