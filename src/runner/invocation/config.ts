// The config of the invocation runner: what a root task is run with.

import { z } from "zod";

import { ByProgram } from "../../protocol/invocation/by-program.ts";
import { readRunnerConfig } from "../shared/runner-config.ts";

/**
 * The folder of the project whose config applies. It is in the config and not in the input because inputs are redacted.
 * `by_program`: the mark of a program's work. `attended_by`: whose processes may attend the run; absent when nothing in it needs any.
 */
const InvocationConfig = z.object({
  project: z.string().optional(),
  attended_by: z.string().optional(),
  by_program: ByProgram.optional(),
});
export type InvocationConfig = z.infer<typeof InvocationConfig>;

export function readInvocationConfig(config: unknown): InvocationConfig {
  return readRunnerConfig("invocation", InvocationConfig, config);
}
