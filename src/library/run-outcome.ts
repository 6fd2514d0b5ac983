// How a run ended: with its result, or with the error that failed it.

import { type ErrorCode, errorTable, TuttiError } from "../protocol/error.ts";
import { Failure } from "../protocol/failure.ts";
import type { AgentResult } from "../protocol/invocation/invocation-result.ts";

/** An expected outcome is a value. `error` says what to do in its message. */
export type RunOutcome<Output> =
  | { readonly status: "completed"; readonly output: Output; readonly task: string }
  | { readonly status: "failed" | "canceled"; readonly error: TuttiError; readonly task: string };

/** The error of a task that did not complete. */
export function errorOf({ status, content, task_id }: AgentResult): TuttiError {
  const details = { task: task_id };
  if (status === "canceled") {
    return new TuttiError("canceled", typeof content === "string" ? content : "the task was canceled", { details });
  }
  const failure = Failure.safeParse(content);
  if (!failure.success) return new TuttiError("task_failed", textOf(content), { details });
  const { code, message, retry } = failure.data;
  return new TuttiError(isCode(code) ? code : "task_failed", message, {
    retry,
    details: { ...failure.data.details, ...details },
  });
}

function isCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorTable, code);
}

function textOf(content: unknown): string {
  return typeof content === "string" ? content : (JSON.stringify(content) ?? "the task failed");
}
