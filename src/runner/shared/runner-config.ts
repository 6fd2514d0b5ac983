// Reads the part of an invocation that is for one runner: its config.

import type { z } from "zod";

import { TuttiError } from "../../protocol/error.ts";
import { describeIssues, issuesOf } from "../../protocol/lenient-read.ts";

/** Throws `invalid_input`, and says which field of the config of which runner is wrong. */
export function readRunnerConfig<T>(kind: string, schema: z.ZodType<T>, config: unknown): T {
  const read = schema.safeParse(config);
  if (read.success) return read.data;
  const issues = issuesOf(read.error);
  throw new TuttiError("invalid_input", `the ${kind} runner's config cannot be used: ${describeIssues(issues)}`, {
    details: { issues },
  });
}
