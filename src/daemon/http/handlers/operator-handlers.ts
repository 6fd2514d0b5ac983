// Joining and leaving as an operator, and tickets for its socket. The socket itself is opened by an upgrade.

import { TuttiError } from "../../../protocol/error.ts";
import type { Caller } from "../caller.ts";
import type { HttpContext } from "../context.ts";
import type { Handlers } from "../handler.ts";
import { refuse } from "../refused.ts";

type Operators = "joinOperator" | "operators" | "operator" | "leaveOperator" | "ticket" | "operatorSocket";

export function operatorHandlers({ state: { operators } }: HttpContext): Pick<Handlers, Operators> {
  return {
    async joinOperator({ body, caller }) {
      const joined = await operators.join(body.roles, caller.kind === "key" ? caller.id : "");
      if (joined.ok) return { value: { sid: joined.sid, token: joined.token, roles: joined.roles } };
      const { conflicts } = joined;
      const message = `these names belong to other operators: ${conflicts.join(", ")}; leave them out, or end those sessions`;
      return { refused: refuse("conflict", message, { extra: { error: "roles conflict", conflicts } }) };
    },
    operators: () => ({ value: { operators: [...operators.list()] } }),
    operator({ params }) {
      const found = operators.info(params.sid);
      if (found === undefined) throw gone(params.sid);
      return { value: found };
    },
    async leaveOperator({ params, caller }) {
      const reason = caller.kind === "session" ? "the operator left" : `the session was ended by ${nameOf(caller)}`;
      if (!(await operators.leave(params.sid, reason))) throw gone(params.sid);
      return { done: true };
    },
    ticket: ({ params }) => ({ value: operators.ticket(params.sid) }),
    operatorSocket() {
      throw new TuttiError("internal", "a socket is opened by an upgrade, not here");
    },
  };
}

function gone(sid: string): TuttiError {
  return new TuttiError("not_found", `there is no operator ${sid}; join again`);
}

function nameOf(caller: Caller): string {
  return caller.kind === "key" ? caller.name : caller.kind;
}
