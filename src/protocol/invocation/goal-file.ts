// What a goal is started with: the person's words, criteria and limits, and the agents and settings of its tree.

import { z } from "zod";

import { Check } from "../decision/decision.ts";
import { NonBlank } from "../non-blank.ts";
import { KeptPolicy } from "../routing/kept-policy.ts";
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

/** The address of an issue of a forge that `gh` knows. */
export const IssueUrl = z.string().regex(/^https:\/\/[\w.-]+(?::\d+)?\/[\w.-]+\/[\w.-]+\/issues\/\d+$/);

/** An issue that the goal was made from. Others wrote it: it is shown to the manager as quoted data and names no checks. */
export const GoalIssue = z.strictObject({
  url: IssueUrl,
  title: z.string().max(1_000),
  body: z.string().max(20_000),
});
export type GoalIssue = z.infer<typeof GoalIssue>;

/** A criterion of the person: its words, or the words with the check that proves them. */
export const AcceptedCriterion = z.union([NonBlank, z.strictObject({ text: NonBlank, by: Check })]);
export type AcceptedCriterion = z.infer<typeof AcceptedCriterion>;

/** What a goal takes from its project. */
export const ProjectSettings = z.strictObject({
  texts: ManagerTexts,
  project_checks: z.array(NamedCheck),
  policy: KeptPolicy,
});
export type ProjectSettings = z.infer<typeof ProjectSettings>;

export const GoalRequest = z.strictObject({
  /** The person's own words. */
  text: NonBlank,
  issue: GoalIssue.optional(),
  /** Criteria of the person. They can be neither dropped nor reworded. */
  accept: z.array(AcceptedCriterion).default(() => []),
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
  /** The routing policy that holds for this goal to its end. */
  policy: KeptPolicy.optional(),
  texts: ManagerTexts.default(() => ({})),
  /** Nobody had agreed to the project's config when the goal started: its manager takes the settings once somebody has. */
  settings_later: z.boolean().default(false),
  limits: GoalLimits.default(() => GoalLimits.parse({})),
});
export type GoalRequest = z.infer<typeof GoalRequest>;

/** The input of a goal's root task. Everything is recorded when the goal starts, so that a later change of a file changes nothing. */
export const GoalFile = InvocationFile.omit({ invocation: true }).extend({ goal: GoalRequest });
export type GoalFile = z.infer<typeof GoalFile>;
