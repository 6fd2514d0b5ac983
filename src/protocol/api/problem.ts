// The body of a refused request: an RFC 9457 problem document with our code.

import { z } from "zod";
import { type ErrorCode, errorTable, TuttiError } from "../error.ts";

export const problemType = "application/problem+json";

/** Loose, because there may be extension members, such as the reason why a worker is refused. */
export const Problem = z.looseObject({
  type: z.literal("about:blank"),
  title: z.string(),
  status: z.int().min(400).max(599),
  /** One line that says what is wrong and what to do about it. */
  detail: z.string(),
  /** Any string, not only a code of this version: a reader must be able to show what a newer service says. */
  code: z.string().min(1),
  retry: z.enum(["never", "safe", "unknown"]),
  details: z.record(z.string(), z.unknown()).optional(),
});
export type Problem = z.infer<typeof Problem>;

export interface ProblemOptions {
  /** Instead of the code's own. */
  readonly status?: number;
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** The message of an internal error is for the log; the caller is told only that there was one. */
export function problemOf(error: TuttiError, options: ProblemOptions = {}): Problem {
  const { code, retry, details } = error;
  const internal = code === "internal";
  return {
    ...options.extra,
    type: "about:blank",
    title: code.replaceAll("_", " "),
    status: options.status ?? errorTable[code].http,
    detail: internal ? "something went wrong inside Tutti; its log says what" : error.message,
    code,
    retry,
    ...(details === undefined || internal ? {} : { details: { ...details } }),
  };
}

/** The problem as an error, as if it had happened in this process. */
export function errorIn(problem: Problem): TuttiError {
  const { code, detail, retry, details } = problem;
  const known = isErrorCode(code) ? code : problem.status >= 500 ? "internal" : "refused";
  return new TuttiError(known, detail, { retry, ...(details === undefined ? {} : { details }) });
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorTable, code);
}
