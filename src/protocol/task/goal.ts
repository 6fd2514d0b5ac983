// What a person asked for: its acceptance criteria, where it stands, its plan, and its tasks and evidence.

import { z } from "zod";
import { Check } from "../decision/decision.ts";
import { Budget } from "./budget.ts";
import { EvidenceId, GoalId, TaskId, Time } from "../ids.ts";

/** `blocked` waits for a person; `done` needs evidence; `failed` and `abandoned` end the goal without it. */
export const GoalStatus = z.enum(["pending", "in_progress", "blocked", "done", "failed", "abandoned"]);
export type GoalStatus = z.infer<typeof GoalStatus>;

export const Criterion = z.strictObject({
  /** Unique in its goal. */
  id: z.string().min(1),
  text: z.string().min(1),
  /** The check that proves it, as the person said. Without one, the criterion is bound to a check only if it is nothing else. */
  by: Check.optional(),
  /** A person's criterion can be neither dropped nor reworded. One that only a model wrote is unconfirmed until a person agrees. */
  from: z.enum(["person", "model"]),
  confirmed: z.boolean(),
  state: z.enum(["open", "met", "unmet"]),
  evidence: z.array(EvidenceId),
});
export type Criterion = z.infer<typeof Criterion>;

/** A task as the manager planned it, before and after it was launched. */
export const PlannedTask = z.strictObject({
  /** Unique in its goal, over all rounds. */
  id: z.string().min(1),
  round: z.int().positive(),
  prompt: z.string().min(1),
  /** Inside a root of the goal. */
  workdir: z.string().min(1),
  /** The class of work, such as `code_change`: the `scope` of its handoff. */
  kind: z.string().nullable(),
  /** Ids of planned tasks that must be verified first. */
  after: z.array(z.string()),
  agent: z.string().nullable(),
  runtime: z.string().nullable(),
  model: z.string().nullable(),
  checks: z.array(Check),
  acceptance: z.array(z.string()),
  conf: z.number().min(0).max(1).nullable(),
  risks: z.array(z.string()),
  assumptions: z.array(z.string()),
  constraints: z.array(z.string()),
  /** The planned task of an earlier round that this one takes the place of. */
  supersedes: z.string().nullable(),
});
export type PlannedTask = z.infer<typeof PlannedTask>;

/** A task that was launched for the goal, and whether its result has been verified. */
export const GoalLink = z.strictObject({
  task: TaskId,
  /** The planned task it carries out. */
  planned: z.string().min(1),
  /** `unverified`: it is done, and the merged work has to pass a check of the person, or a person has to accept it. */
  state: z.enum(["launched", "running", "unverified", "verified", "failed", "superseded"]),
  /** The later task that took its place. */
  superseded_by: TaskId.nullable(),
  evidence: z.array(EvidenceId),
});
export type GoalLink = z.infer<typeof GoalLink>;

export const GoalNote = z.strictObject({ at: Time, text: z.string().min(1) });
export type GoalNote = z.infer<typeof GoalNote>;

export const Goal = z.strictObject({
  id: GoalId,
  /** The manager's task, which is the root of the goal's tree. */
  task: TaskId,
  /** The person's own words. */
  text: z.string().min(1),
  status: GoalStatus,
  /** Why it has this status. */
  reason: z.string(),
  acceptance: z.array(Criterion),
  plan: z.array(PlannedTask),
  links: z.array(GoalLink),
  notes: z.array(GoalNote),
  /** How often the goal was split into tasks. */
  rounds: z.int().nonnegative(),
  /** The hash of the policy that it was started with and keeps. */
  policy: z.string().nullable(),
  budget: Budget,
  /** Folders the goal may touch. */
  roots: z.array(z.string().min(1)),
  created_at: Time,
  updated_at: Time,
});
export type Goal = z.infer<typeof Goal>;
