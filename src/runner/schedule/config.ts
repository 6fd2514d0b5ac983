// The config of the schedule runner: when work is started, which, and what happens to times that were missed.

import { z } from "zod";

import { ScheduledWork } from "../../protocol/api/schedule-shapes.ts";
import { ByProgram } from "../../protocol/invocation/by-program.ts";
import { readRunnerConfig } from "../shared/runner-config.ts";

/** All of it is in the config and not in the input, because inputs are redacted and the work must stay as it was given. */
const ScheduleConfig = z.object({
  cron: z.string(),
  work: ScheduledWork,
  folder: z.string(),
  about: z.string(),
  catch_up: z.boolean(),
  /** The API key that it was made with, and ends with; absent for the owner of the state folder. */
  key: z.string().optional(),
  /** What it starts is work of this program. */
  by_program: ByProgram.optional(),
});
export type ScheduleConfig = z.infer<typeof ScheduleConfig>;

export function readScheduleConfig(config: unknown): ScheduleConfig {
  return readRunnerConfig("schedule", ScheduleConfig, config);
}
