// The report of a goal: each criterion and each task with what proves it, what is not proven, and what it cost.

import { z } from "zod";
import { EvidenceId, GoalId, TaskId, Time } from "../ids.ts";
import { Evidence } from "./evidence.ts";
import { Criterion, GoalLink, GoalStatus } from "./goal.ts";

const Integrated = z.strictObject({ branch: z.string().nullable(), commit: z.string(), tree: z.string().nullable() });

/** The result of a manager whose goal is done. The report says more, because it is made from all events of the tree. */
export const GoalResult = z.strictObject({
  kind: z.literal("goal"),
  goal: GoalId,
  status: GoalStatus,
  reason: z.string(),
  criteria: z.array(Criterion.extend({ reason: z.string() })),
  tasks: z.array(
    z.strictObject({
      /** Its name in the plan. */
      id: z.string(),
      task: TaskId,
      state: GoalLink.shape.state,
      reason: z.string(),
      /** The `[runner:]model` that did the work. */
      worker: z.string().nullable(),
      attempts: z.int().positive(),
      commit: z.string().nullable(),
      branch: z.string().nullable(),
      evidence: z.array(EvidenceId),
    }),
  ),
  integration: Integrated.nullable(),
});
export type GoalResult = z.infer<typeof GoalResult>;

/** One fact in a sentence, with the part of its output that a person should read. */
const Proof = z.strictObject({
  id: EvidenceId,
  kind: z.string(),
  verdict: Evidence.shape.verdict,
  text: z.string(),
  excerpt: z.string(),
});
export type Proof = z.infer<typeof Proof>;

const ReportedCriterion = Criterion.omit({ evidence: true }).extend({ reason: z.string(), proof: z.array(Proof) });
export type ReportedCriterion = z.infer<typeof ReportedCriterion>;

const ReportedTask = z.strictObject({
  /** Its name in the plan. */
  id: z.string(),
  round: z.int().positive(),
  prompt: z.string(),
  /** Null when it was planned and never launched. */
  task: TaskId.nullable(),
  state: z.enum(["planned", ...GoalLink.shape.state.options]),
  reason: z.string(),
  /** The name of the planned task that took its place. */
  replaced_by: z.string().nullable(),
  /** Who it was given to and why; null when no route is recorded. */
  route: z
    .strictObject({ runner: z.string(), model: z.string(), chosen_by: z.string(), reason: z.string() })
    .nullable(),
  attempts: z.int().nonnegative(),
  /** With the tasks below it, such as reviews. */
  tokens: z.int().nonnegative(),
  money_micro_usd: z.int().nonnegative(),
  branch: z.string().nullable(),
  commit: z.string().nullable(),
  commits: z.int().nonnegative(),
  proof: z.array(Proof),
});
export type ReportedTask = z.infer<typeof ReportedTask>;

export const GoalReport = z.strictObject({
  goal: GoalId,
  task: TaskId,
  text: z.string(),
  status: GoalStatus,
  reason: z.string(),
  /** From 0 to 100: the share of tasks that are verified. */
  progress: z.int().min(0).max(100),
  /** At least one reply was played from a script. */
  rehearsal: z.boolean(),
  /** At least one model was called, or a session of an agent with models of its own was started. */
  called: z.boolean().default(false),
  criteria: z.array(ReportedCriterion),
  tasks: z.array(ReportedTask),
  /** What keeps the goal from being done, one sentence each. */
  not_proven: z.array(z.string()),
  /** Parts of decisions that were not carried out. */
  dropped: z.array(z.strictObject({ what: z.string(), reason: z.string() })),
  notes: z.array(z.string()),
  integration: Integrated.nullable(),
  rounds: z.int().nonnegative(),
  tokens: z.int().nonnegative(),
  money_micro_usd: z.int().nonnegative(),
  /** The price of at least one call is not known, so the money is too little. */
  unpriced: z.boolean(),
  created_at: Time,
  updated_at: Time,
});
export type GoalReport = z.infer<typeof GoalReport>;
