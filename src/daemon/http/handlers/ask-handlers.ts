// Lists and settles what tasks wait for: questions to a person, and calls of tools that the client runs itself.

import type { AnswerOutcome } from "../../../client/client.ts";
import type { ErrorCode } from "../../../protocol/error.ts";
import type { HttpContext } from "../context.ts";
import type { Handlers } from "../handler.ts";
import { type HttpError, httpError } from "../http-error.ts";
import { answererOf } from "./answerer.ts";
import { mustBePerson, ofCaller } from "./of-caller.ts";

type AskRoute =
  | "asks"
  | "ask"
  | "answer"
  | "waits"
  | "wait"
  | "settleWait"
  | "approvals"
  | "addApproval"
  | "revokeApproval";

export function askHandlers({ state: { client, keys } }: HttpContext): Pick<Handlers, AskRoute> {
  return {
    asks: async ({ query }) => ({ value: await client.askPage(query) }),
    ask: async ({ params }) => ({ value: await client.ask(params.ask) }),
    answer: async ({ params, body, caller }) => replyOf(await client.answer(params.ask, body, answererOf(caller))),
    approvals: async () => ({ value: { approvals: [...(await client.approvals())] } }),
    async addApproval({ body, caller }) {
      mustBePerson(caller, "allow calls for good");
      return { value: await client.addApproval(body, answererOf(caller), ofCaller(keys, caller)) };
    },
    async revokeApproval({ params }) {
      await client.revokeApproval(params.id);
      return { done: true };
    },
    waits: async ({ query }) => ({ value: await client.waitPage(query) }),
    wait: async ({ params }) => ({ value: await client.wait(params.wait) }),
    settleWait: async ({ params, body, caller }) =>
      replyOf(await client.settle(params.wait, body.value, answererOf(caller))),
  };
}

const errorCodes = {
  late: "conflict",
  unknown: "not_found",
  invalid: "invalid_input",
} as const satisfies Record<string, ErrorCode>;

function replyOf(delivered: AnswerOutcome): { readonly value: { accepted: true } } | { readonly error: HttpError } {
  if (delivered.accepted) return { value: { accepted: true } };
  return { error: httpError(errorCodes[delivered.code], delivered.message) };
}
