// What a task ended with, as it is recorded and as its parent and the outside are given it.

import type { AgentResult } from "../protocol/invocation/invocation-result.ts";
import type { ResultRow } from "../store/store.ts";

/** One of the three, by how it ended. */
export interface Outcome {
  readonly content?: unknown;
  readonly error?: unknown;
  readonly reason?: unknown;
}

export function contentOf(outcome: Outcome): unknown {
  return outcome.content ?? outcome.error ?? outcome.reason ?? null;
}

export function resultIn(row: ResultRow, name: string): AgentResult {
  const outcome: Outcome = JSON.parse(row.body);
  return { content: contentOf(outcome), task_id: name, status: row.status };
}
