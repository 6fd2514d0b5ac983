// Lets operators join and leave, and issues tickets for their WebSocket, which websocket-upgrade.ts opens.

import { TuttiError } from "../../../protocol/error.ts";
import type { HttpContext } from "../context.ts";
import type { Handlers } from "../handler.ts";
import { httpError } from "../http-error.ts";
import { listPage } from "../list-page.ts";

type OperatorRoute = "joinOperator" | "operators" | "operator" | "leaveOperator" | "ticket" | "operatorSocket";

export function operatorHandlers({ state: { operators } }: HttpContext): Pick<Handlers, OperatorRoute> {
  return {
    async joinOperator({ body, headers, caller }) {
      const apiKey = caller.kind === "key" ? caller.id : "";
      const joined = await operators.join(body.roles, apiKey, headers["idempotency-key"]);
      if (joined.ok) return { value: { sid: joined.sid, token: joined.token, roles: joined.roles } };
      const { conflicts } = joined;
      const message = `these names belong to other operators: ${conflicts.join(", ")}; leave them out, or end those sessions`;
      return { error: httpError("conflict", message, { extra: { error: "roles conflict", conflicts } }) };
    },
    async operators({ query }) {
      const { items, next } = listPage(await operators.listAll(), query, ({ sid }) => sid);
      return { value: { operators: items, next } };
    },
    async operator({ params }) {
      const found = await operators.infoAnywhere(params.sid);
      if (found === undefined) throw noOperator(params.sid);
      return { value: found };
    },
    async leaveOperator({ params, caller }) {
      const admin = caller.kind === "key" ? caller.name : caller.kind;
      const reason = caller.kind === "session" ? "the operator left" : `the session was ended by ${admin}`;
      if (!(await operators.leave(params.sid, reason))) throw noOperator(params.sid);
      return { done: true };
    },
    ticket: async ({ params }) => ({ value: await operators.issueTicket(params.sid) }),
    operatorSocket() {
      throw new TuttiError("internal", "the route of the WebSocket is handled as an upgrade, not as a request");
    },
  };
}

function noOperator(sid: string): TuttiError {
  return new TuttiError("not_found", `there is no operator ${sid}; join again`);
}
