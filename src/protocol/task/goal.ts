// What a person asked for: its acceptance criteria, where it stands, and its tasks and evidence.

import { z } from "zod";
import { Budget } from "./budget.ts";
import { EvidenceId, GoalId, TaskId, Time } from "../ids.ts";

/** `blocked` waits for a person; `done` needs evidence; `failed` and `abandoned` end the goal without it. */
export const GoalStatus = z.enum(["pending", "in_progress", "blocked", "done", "failed", "abandoned"]);
export type GoalStatus = z.infer<typeof GoalStatus>;

export const Criterion = z.strictObject({
  /** Unique in its goal. */
  id: z.string().min(1),
  text: z.string().min(1),
  state: z.enum(["open", "met", "unmet"]),
  evidence: z.array(EvidenceId),
});
export type Criterion = z.infer<typeof Criterion>;

/** A task delegated for the goal, and whether its result has been verified. */
export const GoalLink = z.strictObject({
  task: TaskId,
  state: z.enum(["launched", "running", "verified", "failed"]),
  evidence: z.array(EvidenceId),
});
export type GoalLink = z.infer<typeof GoalLink>;

export const Goal = z.strictObject({
  id: GoalId,
  /** The person's own words. */
  text: z.string().min(1),
  status: GoalStatus,
  acceptance: z.array(Criterion),
  links: z.array(GoalLink),
  budget: Budget,
  /** Folders the goal may touch. */
  roots: z.array(z.string().min(1)),
  created_at: Time,
  updated_at: Time,
});
export type Goal = z.infer<typeof Goal>;
