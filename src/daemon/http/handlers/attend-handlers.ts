// Serves the processes of programs that attend runs, at whichever node the run is.

import type { Tutti } from "../../../client/client.ts";
import { TuttiError } from "../../../protocol/error.ts";
import { runElsewhere } from "../../attendance/attend-control.ts";
import { owner } from "../../state/api-keys.ts";
import type { Caller } from "../authorize.ts";
import type { HttpContext } from "../context.ts";
import type { Handlers } from "../handler.ts";
import { type Asking, hereOrElsewhere } from "../here-or-elsewhere.ts";
import { ofCaller } from "./of-caller.ts";

type AttendRoute = "attend" | "reportAttended";

export function attendHandlers({ state }: HttpContext): Pick<Handlers, AttendRoute> {
  const callerOf = (caller: Caller): { caller?: string } =>
    caller.kind === "key" && caller.role === "admin" ? { caller: owner } : ofCaller(state.keys, caller);
  const anywhere = async <T>(request: Asking, ask: (tutti: Tutti) => Promise<T>): Promise<T> => {
    try {
      return await hereOrElsewhere(state, request, ask);
    } catch (thrown) {
      const isMoving = thrown instanceof TuttiError && thrown.details?.["reason"] === runElsewhere;
      if (!isMoving || request.forwarded) throw thrown;
      throw new TuttiError("busy", "the run changes hands between two nodes; ask again");
    }
  };
  return {
    async attend(request) {
      const { params, body, signal, caller } = request;
      const options = { signal, ...callerOf(caller) };
      return { value: await anywhere(request, (tutti) => tutti.attend(params.task, body, options)) };
    },
    async reportAttended(request) {
      const { params, body, caller } = request;
      const options = callerOf(caller);
      return { value: await anywhere(request, (tutti) => tutti.reportAttended(params.task, body, options)) };
    },
  };
}
