// An error as data: how a failure is kept in events and sent over the wire.

import { z } from "zod";
import { type ErrorCode, errorTable, TuttiError } from "./error.ts";

/** `code` is any string, not only a code of this version: a reader must be able to show what a newer version recorded. */
export const Failure = z.strictObject({
  code: z.string().min(1),
  message: z.string(),
  retry: z.enum(["never", "safe", "unknown"]),
  details: z.record(z.string(), z.unknown()).optional(),
});
export type Failure = z.infer<typeof Failure>;

export function toFailure(error: TuttiError): Failure {
  const { code, message, retry, details } = error;
  return { code, message, retry, ...(details === undefined ? {} : { details: { ...details } }) };
}

/** The error that a failure was made of, as far as this version knows its code. */
export function errorOfFailure({ code, message, retry, details }: Failure): TuttiError {
  return new TuttiError(isErrorCode(code) ? code : "step_failed", message, {
    retry,
    ...(details === undefined ? {} : { details }),
  });
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorTable, code);
}
