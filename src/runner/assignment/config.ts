// The config of the assignment runner, and what one attempt of an assignment hands on to the next.

import { z } from "zod";

import type { HandoffState } from "../../core/handoff-machine.ts";
import { AssignmentConfig } from "../../protocol/task/assignment.ts";
import { Handoff } from "../../protocol/routing/handoff.ts";
import { readRunnerConfig } from "../shared/runner-config.ts";

const counter = z.int().nonnegative();

/** Written and read by Tutti alone. */
const KeptHandoffState: z.ZodType<HandoffState> = z.object({
  phase: z.enum([
    "received",
    "repairing",
    "working",
    "verifying",
    "reviewing",
    "deciding",
    "done",
    "failed",
    "abandoned",
    "needs_human",
  ]),
  hash: z.string(),
  turn: z.string().exactOptional(),
  routed: z
    .object({
      decision: z.object({
        model: z.string(),
        reason: z.string(),
        matched_by: z.union([
          z.enum(["conf", "risk", "contradiction", "ambiguity", "destination", "scope", "default"]),
          z.templateLiteral(["rule:", z.number()]),
        ]),
        words: z.array(z.string()),
        fallback_models: z.array(z.string()).exactOptional(),
      }),
      threshold: z.number(),
      namesRisk: z.boolean(),
    })
    .exactOptional(),
  worker: z.string().exactOptional(),
  counters: z.object({ hops: counter, repairs: counter, retries: counter, revisions: counter, questions: counter }),
});

export const Work = z.object({
  model: z.string(),
  evidence: z.array(z.string()),
  criteria: z.array(z.string()),
  /** The models to try next, if the policy has a list. */
  fallback_models: z.array(z.string()).exactOptional(),
  /** Why the task came to this model. */
  reason: z.string(),
});
export type Work = z.infer<typeof Work>;

/** Where an attempt stands when its work begins. */
export const Standing = z.object({ state: KeptHandoffState, handoff: Handoff, work: Work });
export type Standing = z.infer<typeof Standing>;

export const Carried = Standing.extend({
  /** The commit that the work of all attempts began with, and the last one that an attempt left. */
  base: z.string().nullable(),
  commit: z.string().nullable(),
});
export type Carried = z.infer<typeof Carried>;

export function readAssignmentConfig(config: unknown): AssignmentConfig & { readonly carried: Carried | undefined } {
  const read = readRunnerConfig("assignment", AssignmentConfig, config);
  return { ...read, carried: readRunnerConfig("assignment", Carried.optional(), read.carried) };
}
