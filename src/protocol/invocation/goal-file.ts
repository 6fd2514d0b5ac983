// What a goal is started with: the person's words, criteria and limits, and the agents and settings of its tree.

import { z } from "zod";

import { Check } from "../decision/decision.ts";
import { NonBlank } from "../non-blank.ts";
import { NamedCheck } from "../task/named-check.ts";
import { InvocationFile } from "./invocation-file.ts";

/** At a limit a person is asked. */
export const GoalLimits = z.strictObject({
  /** How often the goal is split into tasks without a person: the first time, and again after failures. */
  rounds: z.int().positive().default(3),
  /** Planned tasks in all rounds. */
  tasks: z.int().positive().default(50),
});
export type GoalLimits = z.infer<typeof GoalLimits>;

/** Parts of the manager's prompt that files of the user or of a trusted project replace. The rest cannot be replaced. */
export const ManagerTexts = z.strictObject({
  instructions: NonBlank.optional(),
  workflow: NonBlank.optional(),
  verbs: NonBlank.optional(),
});
export type ManagerTexts = z.infer<typeof ManagerTexts>;

export const GoalRequest = z.strictObject({
  /** The person's own words. */
  text: NonBlank,
  /** Criteria of the person. They can be neither dropped nor reworded. */
  accept: z.array(NonBlank).default(() => []),
  /** Checks that the person named. They run without being asked about. */
  checks: z.array(Check).default(() => []),
  /** Checks that the project's config named when the goal was started. They run without being asked about, too. */
  project_checks: z.array(NamedCheck).default(() => []),
  /** Every plan is shown and carried out only after a yes. */
  plan: z.boolean().default(false),
  /** The `[runner:]model` that the person chose for the tasks. It goes before the policy. */
  model: NonBlank.optional(),
  /** The model that decides; the model of the tree when absent. */
  manager_model: NonBlank.optional(),
  /** The routing policy that holds for this goal to its end. `is_default`: nobody wrote it, so an agent's definition beats it. */
  policy: z.strictObject({ text: z.string(), hash: z.string(), is_default: z.boolean().default(false) }).optional(),
  texts: ManagerTexts.default(() => ({})),
  limits: GoalLimits.default(() => GoalLimits.parse({})),
});
export type GoalRequest = z.infer<typeof GoalRequest>;

/** The input of a goal's root task. Everything is recorded when the goal starts, so that a later change of a file changes nothing. */
export const GoalFile = InvocationFile.omit({ invocation: true }).extend({ goal: GoalRequest });
export type GoalFile = z.infer<typeof GoalFile>;
