// What a conversation with the manager can do with goals, through the client of this process.

import type { Tutti } from "../../client/client.ts";
import { reportMarkdown } from "../../core/render-report.ts";
import type { GoalControl } from "../../manager/conversation/conversation-deps.ts";

type GoalClient = Pick<Tutti, "goals" | "goal" | "startGoal" | "tellGoal" | "goalReport">;

const mostGoals = 100;

export function goalControl(client: GoalClient): GoalControl {
  return {
    async list() {
      const { goals } = await client.goals({ limit: mostGoals });
      // The reason of a status may quote a session, so it is left to `get`.
      return goals.map(({ goal, text, status, created_at }) => ({ id: goal, text, status, at: created_at }));
    },
    get: (goal) => client.goal(goal),
    start: ({ text, accept, folder, program, key }) =>
      client.startGoal({ text, accept: [...accept], folder }, { key, ...(program === undefined ? {} : { program }) }),
    async message(goal, text, program) {
      await client.tellGoal(goal, text, program === undefined ? {} : { program });
    },
    report: async (goal) => reportMarkdown(await client.goalReport(goal)),
  };
}
