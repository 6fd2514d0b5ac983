// A delegated task of a goal: what it is launched with, and what becomes of it after work, verification and review.

import { z } from "zod";

import { EvidenceId, GoalId } from "../ids.ts";
import { RunnerConfig } from "../invocation/executor.ts";
import { KeptPolicy } from "../routing/kept-policy.ts";
import { Handoff } from "../routing/handoff.ts";
import { Criterion } from "./goal.ts";
import { NamedCheck } from "./named-check.ts";

/** The config of the runner `assignment`. The task's input is what the inner runner takes. */
export const AssignmentConfig = z.strictObject({
  goal: GoalId.nullable().default(null),
  handoff: Handoff,
  checks: z.array(NamedCheck).default([]),
  /** Criteria of the goal that this task bears on. */
  criteria: z.array(Criterion.pick({ id: true, text: true, by: true })).default([]),
  /** The goal has other tasks, so work that only somebody else has to judge goes on, and the goal asks about all of it. */
  judged_at_end: z.boolean().default(false),
  /** The `[runner:]model` that a person chose. */
  person: z.string().nullable().default(null),
  /** The runner that the agent's definition names. */
  inner: RunnerConfig.nullable().default(null),
  /** The model that planned the task and is asked when its confidence is missing; the router when null. */
  author: z.string().nullable().default(null),
  /** The policy of the goal, when it was settled after the goal had started. */
  policy: KeptPolicy.optional(),
  /** As the inner runner reads it; `{mode, base, …}`. */
  workspace: z.looseObject({}).default(() => ({})),
  /** Written by the runner itself for the next attempt. */
  carried: z.unknown().optional(),
});
export type AssignmentConfig = z.infer<typeof AssignmentConfig>;

/** The details of the question what becomes of the work of an assignment, by which a front can show that work. */
export const AskedWork = z.strictObject({
  /** The task's name in the plan. */
  handoff: z.string().nullable(),
  branch: z.string().nullable(),
  commit: z.string().nullable(),
});
export type AskedWork = z.infer<typeof AskedWork>;

export const AssignmentResult = z.strictObject({
  kind: z.literal("assignment"),
  /** What the inner runner returned: what the session says. */
  claim: z.unknown(),
  /** `unverified`: the work may be done, but nothing proves it. */
  state: z.enum(["verified", "unverified", "failed"]),
  reason: z.string(),
  /** Checks of the person, as arguments, that failed before the task and after it; the whole goal has to make them succeed. */
  pending: z.array(z.array(z.string())).default(() => []),
  /** What is missing, when the work is done and nobody but the author's own model could judge it; the goal asks a person. */
  unjudged: z.string().optional(),
  /** Evidence of the attempt whose work this is. */
  evidence: z.array(EvidenceId),
  commit: z.string().nullable(),
  tree: z.string().nullable(),
  /** The commit that the work of all attempts began with. */
  base: z.string().nullable(),
  branch: z.string().nullable(),
  workspace: z.string().nullable(),
  /** What the evidence says of the task's own acceptance criteria and of those of the goal. */
  criteria: z.array(
    z.strictObject({
      id: z.string(),
      text: z.string(),
      state: Criterion.shape.state,
      reason: z.string(),
      evidence: z.array(z.string()),
      /** The files of the change that a reviewer named for it. */
      files: z.array(z.string()).optional(),
    }),
  ),
  /** Who ended the whole goal when asked what becomes of this work. */
  goal_ended_by: z.string().optional(),
  handoff: z.strictObject({
    /** The `[runner:]model` that did the work; null when nobody did. */
    worker: z.string().nullable(),
    attempts: z.int().positive(),
    hops: z.int().nonnegative(),
    retries: z.int().nonnegative(),
    revisions: z.int().nonnegative(),
  }),
});
export type AssignmentResult = z.infer<typeof AssignmentResult>;
