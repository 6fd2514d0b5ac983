// An error reply as data: the error itself, and what HTTP adds to it.

import { type ErrorCode, TuttiError } from "../../protocol/error.ts";

export interface HttpError {
  readonly cause: TuttiError;
  /** Replaces the status that belongs to the error's code. */
  readonly status?: number;
  /** Additional headers: names and values alternate. */
  readonly headers?: readonly string[];
  /** Additional members of the problem document. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

interface HttpErrorOptions extends Omit<HttpError, "cause"> {
  readonly details?: Readonly<Record<string, unknown>>;
}

export function httpError(code: ErrorCode, message: string, options: HttpErrorOptions = {}): HttpError {
  const { details, ...rest } = options;
  return { cause: new TuttiError(code, message, details === undefined ? {} : { details }), ...rest };
}
