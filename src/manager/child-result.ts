// What became of a delegated task, read from its result: only its recorded state and evidence count, never its words.

import { z } from "zod";

import type { AgentResult } from "../protocol/invocation/invocation-result.ts";
import { AssignmentResult } from "../protocol/task/assignment.ts";

export interface ChildOutcome {
  /** `unverified`: it is done as far as it can tell itself, and the rest of the goal, or a person at its end, has to prove it. */
  readonly state: "verified" | "unverified" | "failed";
  readonly reason: string;
  /** Absent when the task ended without one. */
  readonly result?: AssignmentResult;
}

/** What a task that failed says of itself is enough. */
const lacking = { verified: "nothing proves it: ", unverified: "not proven: ", failed: "" } as const;

/** A task without evidence is not verified, whatever its state says. */
export function childOutcome({ status, content }: AgentResult): ChildOutcome {
  if (status === "canceled") return { state: "failed", reason: `it was canceled: ${textOf(content)}` };
  if (status !== "completed") return { state: "failed", reason: textOf(content) };
  const read = AssignmentResult.safeParse(content);
  if (!read.success) return { state: "failed", reason: "its result does not say what was verified" };
  const result = read.data;
  if (result.state === "verified" && result.evidence.length > 0) {
    return { state: "verified", reason: result.reason, result };
  }
  const waits = result.unjudged !== undefined || (result.pending.length > 0 && result.evidence.length > 0);
  if (result.state === "unverified" && waits) {
    return { state: "unverified", reason: result.reason, result };
  }
  return { state: "failed", reason: `${lacking[result.state]}${result.reason}`, result };
}

const Failed = z.object({ message: z.string() });

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const failed = Failed.safeParse(content);
  return failed.success ? failed.data.message : "it failed";
}
