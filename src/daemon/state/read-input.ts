// Reads what a front passes to the process itself, with the same error as over HTTP.

import type { z } from "zod";

import { TuttiError } from "../../protocol/error.ts";
import { describeIssues, issuesOf } from "../../protocol/lenient-read.ts";

export function readInput<S extends z.ZodType>(schema: S, value: unknown, part: "query" | "body"): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new TuttiError("invalid_input", `the ${part} cannot be used: ${describeIssues(issuesOf(parsed.error, value))}`);
}
