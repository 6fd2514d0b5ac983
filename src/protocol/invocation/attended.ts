// What a program brings to a run in a daemon: tools, models and workflows whose code only the program's own processes have.

import { z } from "zod";

import { Profile } from "../toolcalls/dialect.ts";
import { Effect } from "./approval-policy.ts";
import { Price } from "./model-price.ts";

const dayMs = 24 * 60 * 60_000;

/** How the calls of a tool are carried out by a process that attends the run. */
export const AttendedTool = z.strictObject({
  /** What a person who is asked about a call is told that it may do. */
  effects: z.array(Effect).max(16),
  /** Whether a call may be made again when the process that had it is gone. */
  repeatable: z.boolean(),
  timeout_ms: z.int().positive().max(dayMs),
});
export type AttendedTool = z.infer<typeof AttendedTool>;

/** What is known of a model that a process of the program calls. */
export const AttendedModel = z.strictObject({
  format: z.enum(["native", "fenced"]),
  format_may_change: z.boolean(),
  profile: Profile,
  context_tokens: z.int().positive().nullable(),
  max_output_tokens: z.int().positive(),
  most_output_tokens: z.int().positive(),
  /** Null when it is not known; its calls are then reserved as free. */
  price: Price.nullable(),
});
export type AttendedModel = z.infer<typeof AttendedModel>;

/** One of them, by its name. */
export const Attended = z.strictObject({ kind: z.enum(["tool", "model", "workflow"]), name: z.string().min(1) });
export type Attended = z.infer<typeof Attended>;

/** What a wait is about that ends when a process is there which has it. */
export const AttendedWait = z.object({ attended: Attended });
