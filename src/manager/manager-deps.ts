// What the manager is given by the daemon: its model, and functions for everything that it may not do itself.

import { z } from "zod";

import type { Model } from "../model-port.ts";
import type { NewTask, RunningStep } from "../ports.ts";
import { EvidenceId, type TaskId } from "../protocol/ids.ts";
import type { GoalFile, ProjectSettings } from "../protocol/invocation/goal-file.ts";
import type { AssignmentResult } from "../protocol/task/assignment.ts";
import { Evidence } from "../protocol/task/evidence.ts";
import { Criterion, type Goal, type PlannedTask } from "../protocol/task/goal.ts";

/** A task that is verified, or as good as its own checks can tell, and what it left. */
export interface FinishedWork {
  readonly planned: PlannedTask;
  readonly task: TaskId;
  readonly result: AssignmentResult;
}

export interface AssignmentRequest {
  readonly goal: Goal;
  readonly planned: PlannedTask;
  /** The work that the task builds on: its handoff has their results, its workspace their files. */
  readonly predecessors: readonly FinishedWork[];
  readonly file: GoalFile;
  /** No other task of the goal is under way or waits. */
  readonly isLast: boolean;
}

/** Who would do a task, as it is shown before it starts. */
export interface ShownRoute {
  readonly runner: string;
  readonly model: string;
  readonly reason: string;
}

export interface IntegrationRequest {
  readonly goal: Goal;
  readonly task: TaskId;
  readonly file: GoalFile;
  /** Verified tasks whose work is not part of another one's, in the order of the plan. */
  readonly work: readonly FinishedWork[];
  /** All verified tasks. Their checks must hold on the merged work, too. */
  readonly verified: readonly PlannedTask[];
}

const JudgedCriterion = z.strictObject({
  id: z.string(),
  state: Criterion.shape.state,
  evidence: z.array(EvidenceId),
  reason: z.string(),
});

/** What became of merging the work of all tasks and checking the criteria on it as a whole. */
export const IntegrationResult = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("checked"),
    /** Null when there is nothing to merge, as without git. */
    integration: z
      .strictObject({ branch: z.string().nullable(), commit: z.string(), tree: z.string().nullable() })
      .nullable(),
    evidence: z.array(Evidence),
    criteria: z.array(JudgedCriterion),
    /** What failed on the merged work and is no criterion's own check, a sentence each. */
    failures: z.array(z.string()).default([]),
    /** What somebody should look at on the merged work, such as a flaky check, a sentence each. */
    doubts: z.array(z.string()).default([]),
    /** What only a person can settle, such as a check that passes only as the work changed it, a sentence each. */
    unsettled: z.array(z.string()).default([]),
  }),
  z.strictObject({
    kind: z.literal("conflict"),
    /** Names in the plan of the tasks whose work does not merge. */
    between: z.array(z.string()),
    files: z.array(z.string()),
    reason: z.string(),
  }),
]);
export type IntegrationResult = z.infer<typeof IntegrationResult>;

export interface ManagerDeps {
  readonly model: (file: GoalFile) => Model;
  /** The model of trees that name none. */
  readonly defaultModel: string;
  /** What a goal takes from its project, once a person has agreed to its config. */
  readonly settings: (file: GoalFile) => Promise<ProjectSettings>;
  /** Makes the task that carries out a planned one. It must give the same for the same request, also after a restart. */
  readonly assign: (request: AssignmentRequest) => Pick<NewTask, "runner" | "agent" | "input">;
  readonly route: (request: AssignmentRequest) => ShownRoute;
  /** May run again when it was interrupted. */
  readonly integrate: (request: IntegrationRequest, step: RunningStep) => Promise<IntegrationResult>;
  /** Posts a comment on an issue; absent where that cannot be done. */
  readonly comment?: (
    comment: { readonly url: string; readonly text: string },
    signal: AbortSignal,
  ) => Promise<{ readonly ok: boolean; readonly said: string }>;
  /** How many tasks may be under way at once, those that wait included. */
  readonly window?: number;
}
