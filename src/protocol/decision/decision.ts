// What the manager may decide, and the tasks it delegates. The prompt is rendered from these schemas.
import { z } from "zod";

import { trimSpace } from "../white-space.ts";

/** A command that proves a task: one line, or the exact arguments when quoting matters. */
export const Check = z.union([z.string(), z.object({ run: z.array(z.string()).min(1) })]);

export const TaskSpec = z.object({
  workdir: z.string().describe("the repository or folder the session works in"),
  prompt: z.string().describe("the whole task, as the session will read it: it sees nothing else"),
  model: z.string().nullable().default(null).describe("a model by name; leave it out to let the routing policy choose"),
  id: z.string().optional().describe("a short name for this task, unique in this decision"),
  kind: z
    .string()
    .optional()
    .describe("the class of work, such as code_change, information_gathering, documentation or review"),
  after: z.array(z.string()).optional().describe("ids of tasks of this decision that must end first"),
  checks: z.array(Check).optional().describe("commands that are run in the workdir after the session and must succeed"),
  acceptance: z.array(z.string()).optional().describe("what must be true when the task is done, one criterion each"),
  agent: z.string().optional().describe("the agent definition to use"),
  runtime: z.string().optional().describe("the runner to use"),
  // May be missing, but the prompt says that it is required: a missing one is asked for and never filled in.
  conf: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .meta({ description: "how sure you are that this task is the right one", needed: true }),
  risks: z.array(z.string()).optional().describe("what could go wrong"),
  assumptions: z.array(z.string()).optional().describe("what you took for granted"),
  scope: z.string().optional().describe("what the session may touch and what it must leave alone"),
});
export type TaskSpec = z.infer<typeof TaskSpec>;
export type Check = z.infer<typeof Check>;

/** Criteria of the goal that the manager proposes. They hold beside those of the person and never take their place. */
export const GoalAcceptance = z.array(z.string());

const Delegate = z
  .object({
    action: z.literal("delegate"),
    // May be missing, but the prompt says that it is required.
    tasks: z.array(TaskSpec).default([]).meta({ description: "the tasks, each the size of one session", needed: true }),
    acceptance: GoalAcceptance.optional().describe(
      "what must be true when the whole goal is reached, one criterion each, beside those that the person gave",
    ),
  })
  .describe("launch one session per task; this is how any work gets done");

export const Respond = z
  .object({
    action: z.literal("respond"),
    message: z.string().describe("what the person will read"),
  })
  .describe("talk to the person: triage, status, or a question that must be answered before work can start");

/** Never offered to a model. It catches one that claims to have done the work itself, so that this can be refused. */
export const DoWork = z
  .object({
    action: z.literal("do_work"),
    summary: z.string().default("").describe("the work that was attempted"),
  })
  .meta({ advertised: false });

export const Decision = z.discriminatedUnion("action", [Delegate, Respond, DoWork]);
export type Decision = z.infer<typeof Decision>;

export type ActionName = Decision["action"];

/** A part of a reply that will not be carried out, and why. */
export interface Dropped {
  readonly what: string;
  readonly reason: string;
}

/** A blank workdir or prompt parses, but there is nothing a session could do with it. */
export function isLaunchable(task: TaskSpec): boolean {
  return trimSpace(task.workdir) !== "" && trimSpace(task.prompt) !== "";
}
