// What a task ended with, as it is recorded and as its parent and the outside are given it.

import { z } from "zod";

import type { AgentResult } from "../protocol/invocation/invocation-result.ts";
import type { ResultRow } from "../store/store.ts";

/** One of the three, by how the task ended. */
export const Outcome = z.object({
  content: z.unknown().optional(),
  error: z.unknown().optional(),
  reason: z.unknown().optional(),
});
export type Outcome = Readonly<z.infer<typeof Outcome>>;

export function contentOf(outcome: Outcome): unknown {
  return outcome.content ?? outcome.error ?? outcome.reason ?? null;
}

export function outcomeIn({ body }: Pick<ResultRow, "body">): Outcome {
  const value: unknown = JSON.parse(body);
  return isPlainOutcome(value) ? value : Outcome.parse(value);
}

/** Whether it is a content and nothing else, as of most tasks: `Outcome` would return an equal value. */
function isPlainOutcome(value: unknown): value is Outcome {
  return typeof value === "object" && value !== null && "content" in value && Object.keys(value).length === 1;
}

export function resultIn(row: ResultRow, name: string): AgentResult {
  return { content: contentOf(outcomeIn(row)), task_id: name, status: row.status };
}
