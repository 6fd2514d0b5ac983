// The MCP tools for goals: hand one to the manager, look at it, talk to its manager.

import { isAbsolute, resolve } from "node:path";

import { z } from "zod";

import type { OfCaller } from "../../client/client.ts";
import { GoalListQuery, StartGoal, TellGoal } from "../../protocol/api/goal-shapes.ts";
import { TuttiError } from "../../protocol/error.ts";
import { GoalId } from "../../protocol/ids.ts";
import type { LocalTutti } from "../state/local-client.ts";
import { type McpCall, type McpTool, mcpTool, programIn } from "./mcp-tool.ts";

const AboutGoal = z.strictObject({ goal: GoalId });
const { text, issue, accept, checks } = StartGoal.shape;

const NewGoal = z.strictObject({
  text: text.describe("What is to be reached, in plain words."),
  folder: z.string().min(1).max(4096).optional().describe("The absolute path of the folder that the goal may touch."),
  issue,
  accept,
  checks,
  key: z.string().min(1).max(255).optional().describe("An idempotency key: the same key always gives the same goal."),
});

export function goalTools(client: LocalTutti): McpTool[] {
  return [
    mcpTool({
      name: "goal_start",
      description:
        "Hands a goal to Tutti's manager, which splits it into tasks, has agents do them, and verifies the work. Returns " +
        "the ids of the goal and of its root task at once; wait with task_wait on that task, and read goal_report then.",
      access: "operator",
      readOnly: false,
      input: NewGoal,
      run: ({ folder, key, ...goal }, call) =>
        call.startAnywhere((tutti) =>
          tutti.startGoal({ ...goal, folder: folderOf(folder, call) }, startOptions(key, call)),
        ),
    }),
    mcpTool({
      name: "goal_list",
      description: "Lists goals, newest first, with their status.",
      access: "viewer",
      readOnly: true,
      input: GoalListQuery,
      run: (query) => client.goals(query),
    }),
    mcpTool({
      name: "goal_show",
      description: "Shows a goal: its criteria, its status, how far it is and what is missing.",
      access: "viewer",
      readOnly: true,
      input: AboutGoal,
      run: ({ goal }) => client.goal(goal),
    }),
    mcpTool({
      name: "goal_report",
      description: "The report on a goal as it stands now: what was done, and what Tutti itself observed of it.",
      access: "viewer",
      readOnly: true,
      input: AboutGoal,
      run: ({ goal }) => client.goalReport(goal),
    }),
    mcpTool({
      name: "goal_tell",
      description: "Says something to the manager of a goal. `stop` ends the goal, `stop NAME` ends one of its tasks.",
      access: "operator",
      readOnly: false,
      input: AboutGoal.extend(TellGoal.shape),
      run: async ({ goal, text: said }, { caller }) => ({
        told: true,
        task: await client.tellGoal(goal, said, programIn(caller)),
      }),
    }),
  ];
}

/** An absolute folder: the one that was named, or the one the caller works in. */
export function folderOf(named: string | undefined, { folder }: Pick<McpCall, "folder">): string {
  if (named !== undefined && isAbsolute(named)) return named;
  if (folder !== undefined) return resolve(folder, named ?? ".");
  const why = named === undefined ? "no folder is named" : `the folder ${named} is relative`;
  throw new TuttiError("invalid_input", `${why}; give \`folder\` as an absolute path`);
}

export function startOptions(
  key: string | undefined,
  { caller }: Pick<McpCall, "caller">,
): { readonly key?: string } & OfCaller {
  const of = caller.kind === "key" ? { caller: caller.keyOwner, ...programIn(caller) } : {};
  return key === undefined ? of : { ...of, key };
}
