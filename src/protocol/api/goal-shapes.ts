// What the routes of goals take and give.

import { z } from "zod";

import { GoalFile, GoalLimits, GoalRequest } from "../invocation/goal-file.ts";
import { GoalId, TaskId, Time } from "../ids.ts";
import { NonBlank } from "../non-blank.ts";
import { Goal, GoalStatus } from "../task/goal.ts";
import { queryBoolean } from "../query-boolean.ts";
import { count, nextItem, numberCursor } from "./list-query.ts";

const { text, issue, accept, checks, plan, model, manager_model } = GoalRequest.shape;
const { script, budget, approvals, operators, labels } = GoalFile.shape;

export const StartGoal = z.strictObject({
  text,
  /** An issue that the goal is about. When the goal has ended, a comment on it waits for a person's yes. */
  issue,
  accept,
  checks,
  plan,
  model,
  manager_model,
  /** The text of a routing policy, as TOON or JSON. It holds for this goal to its end. */
  policy: z
    .string()
    .max(256 * 1024)
    .optional(),
  limits: GoalLimits.partial().optional(),
  /** The folder that the goal may touch, and in whose project it runs. */
  folder: NonBlank,
  script,
  budget,
  approvals,
  operators,
  /** What the node must have that runs it, where there are several. */
  labels,
});
/** What a caller gives; everything but the text and the folder has a default. */
export type StartGoal = z.input<typeof StartGoal>;

export const StartedGoal = z.strictObject({
  goal: GoalId,
  /** The task of its manager, which is the root of its tree. */
  task: TaskId,
  /** It existed already: the same idempotency key, or the same goal that has not ended. */
  existed: z.boolean(),
  warnings: z.array(z.string()),
});
export type StartedGoal = z.infer<typeof StartedGoal>;

export const StartGoalQuery = z.strictObject({ anew: queryBoolean.optional() });

export const GoalParams = z.strictObject({ goal: GoalId });

export const GoalListQuery = z.strictObject({ limit: count(100, 50), cursor: numberCursor });
export type GoalListQuery = z.input<typeof GoalListQuery>;

export const ListedGoal = z.strictObject({
  goal: GoalId,
  task: TaskId,
  /** At most 400 characters. */
  text: z.string(),
  status: GoalStatus,
  reason: z.string(),
  created_at: Time,
});
export type ListedGoal = z.infer<typeof ListedGoal>;

export const GoalPage = z.strictObject({ goals: z.array(ListedGoal), next: nextItem });
export type GoalPage = z.infer<typeof GoalPage>;

export const GoalView = Goal.extend({
  /** From 0 to 100: the share of tasks that are verified. */
  progress: z.int().min(0).max(100),
  /** What keeps the goal from being done, one sentence each. */
  missing: z.array(z.string()),
});
export type GoalView = z.infer<typeof GoalView>;

export const TellGoal = z.strictObject({
  text: z
    .string()
    .max(100_000)
    .refine((given) => given.trim() !== "", "is blank"),
});
