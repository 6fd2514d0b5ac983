// Serves the processes of programs that attend runs, at whichever node the run is.

import type { Tutti } from "../../../client/client.ts";
import { TuttiError } from "../../../protocol/error.ts";
import type { TaskId } from "../../../protocol/ids.ts";
import { idInName } from "../../../store/names.ts";
import { runElsewhere } from "../../attendance/attend-control.ts";
import { owner } from "../../state/api-keys.ts";
import { atOwner } from "../at-owner.ts";
import type { Caller } from "../authorize.ts";
import type { HttpContext } from "../context.ts";
import type { Handlers } from "../handler.ts";
import type { Asking } from "../here-or-elsewhere.ts";
import { ofCaller } from "./of-caller.ts";

type AttendRoute = "attend" | "reportAttended";

export function attendHandlers({ state }: HttpContext): Pick<Handlers, AttendRoute> {
  const callerOf = (caller: Caller): { caller?: string } =>
    caller.kind === "key" && caller.role === "admin" ? { caller: owner } : ofCaller(state.keys, caller);
  const anywhere = async <T>(request: Asking, task: TaskId, ask: (tutti: Tutti) => Promise<T>): Promise<T> => {
    try {
      return await ask(state.client);
    } catch (thrown) {
      const isElsewhere = thrown instanceof TuttiError && thrown.details?.["reason"] === runElsewhere;
      const id = idInName(state.store.salt, task);
      if (!isElsewhere || request.forwarded || state.shared === undefined || id === undefined) throw thrown;
      return atOwner(state.shared, request, id, ask);
    }
  };
  return {
    async attend(request) {
      const { params, body, signal, caller } = request;
      const options = { signal, ...callerOf(caller) };
      return { value: await anywhere(request, params.task, (tutti) => tutti.attend(params.task, body, options)) };
    },
    async reportAttended(request) {
      const { params, body, caller } = request;
      const options = callerOf(caller);
      return {
        value: await anywhere(request, params.task, (tutti) => tutti.reportAttended(params.task, body, options)),
      };
    },
  };
}
