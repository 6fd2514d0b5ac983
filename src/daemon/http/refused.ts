// Why a request is refused, as data: the error, and what HTTP adds to it.

import { type ErrorCode, TuttiError } from "../../protocol/error.ts";

export interface Refused {
  readonly error: TuttiError;
  /** Instead of the code's own. */
  readonly status?: number;
  /** Names and values in turn. */
  readonly headers?: readonly string[];
  /** Members beside those of every problem. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

interface RefuseOptions extends Omit<Refused, "error"> {
  readonly details?: Readonly<Record<string, unknown>>;
}

export function refuse(code: ErrorCode, message: string, options: RefuseOptions = {}): Refused {
  const { details, ...rest } = options;
  return { error: new TuttiError(code, message, details === undefined ? {} : { details }), ...rest };
}
