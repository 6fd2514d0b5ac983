// Starts goals, and answers about them.

import { isAbsolute } from "node:path";

import type { HttpContext } from "../context.ts";
import type { Handlers } from "../handler.ts";
import { httpError } from "../http-error.ts";
import { startWhereFolderIs } from "../here-or-elsewhere.ts";
import { asProgram, keyOf, ofCaller } from "./of-caller.ts";

type GoalRoute = "startGoal" | "listGoals" | "goal" | "goalReport" | "tellGoal";

export function goalHandlers({ state }: HttpContext): Pick<Handlers, GoalRoute> {
  const { client } = state;
  return {
    async startGoal(request) {
      const { query, headers, body, caller } = request;
      if (!isAbsolute(body.folder)) {
        return { error: httpError("invalid_input", `the folder ${body.folder} is relative; use an absolute path`) };
      }
      const key = headers["idempotency-key"];
      const anew = query.anew === true;
      const started = await startWhereFolderIs(state, request, (tutti, onceKey) =>
        tutti.startGoal(body, { anew, ...keyOf(key, anew ? onceKey : undefined), ...ofCaller(state.keys, caller) }),
      );
      return { value: started, status: started.existed ? 200 : 201 };
    },
    listGoals: async ({ query }) => ({ value: await client.goals(query) }),
    goal: async ({ params }) => ({ value: await client.goal(params.goal) }),
    goalReport: async ({ params }) => ({ value: await client.goalReport(params.goal) }),
    tellGoal: async ({ params, body, caller }) => ({
      value: { told: true, task: await client.tellGoal(params.goal, body.text, asProgram(caller)) },
    }),
  };
}
