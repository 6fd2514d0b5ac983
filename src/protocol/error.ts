// The one error type of Tutti, and the one table that gives a code its retry verdict, exit status and HTTP status.

/**
 * What a caller may do after a failure: `never` (the same call fails again), `safe` (nothing happened, call again),
 * `unknown` (it may have happened: look before calling again).
 */
export type Retry = "never" | "safe" | "unknown";

interface Verdict {
  readonly retry: Retry;
  /** Exit status of the command line: 1 a fault of Tutti, 2 a wrong call, 3 unusable input, from 4 on by kind. */
  readonly exit: number;
  readonly http: number;
}

export const errorTable = {
  internal: { retry: "never", exit: 1, http: 500 },
  usage: { retry: "never", exit: 2, http: 400 },
  invalid_input: { retry: "never", exit: 3, http: 422 },
  too_large: { retry: "never", exit: 3, http: 413 },
  not_found: { retry: "never", exit: 4, http: 404 },
  refused: { retry: "never", exit: 5, http: 403 },
  expired: { retry: "never", exit: 5, http: 410 },
  unauthorized: { retry: "never", exit: 5, http: 401 },
  slow_down: { retry: "safe", exit: 7, http: 429 },
  unreachable: { retry: "unknown", exit: 7, http: 502 },
  io: { retry: "unknown", exit: 6, http: 500 },
  read_only: { retry: "never", exit: 6, http: 500 },
  disk_full: { retry: "safe", exit: 6, http: 507 },
  corrupt: { retry: "never", exit: 6, http: 500 },
  newer: { retry: "never", exit: 6, http: 500 },
  busy: { retry: "safe", exit: 7, http: 503 },
  locked: { retry: "safe", exit: 7, http: 503 },
  conflict: { retry: "never", exit: 7, http: 409 },
  stopped: { retry: "safe", exit: 7, http: 503 },
  step_failed: { retry: "never", exit: 8, http: 500 },
  outcome_unknown: { retry: "unknown", exit: 8, http: 500 },
  task_failed: { retry: "never", exit: 8, http: 500 },
  over_budget: { retry: "never", exit: 8, http: 409 },
  deadline: { retry: "safe", exit: 8, http: 504 },
  needs_input: { retry: "unknown", exit: 9, http: 409 },
  canceled: { retry: "never", exit: 8, http: 409 },
} as const satisfies Record<string, Verdict>;

export type ErrorCode = keyof typeof errorTable;

export interface TuttiErrorOptions {
  readonly cause?: unknown;
  /** Plain data for programs: what was wrong and where. Never a secret. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Replaces the verdict of the table. */
  readonly retry?: Retry;
}

/** The same in every copy of this file: `tutti`, `tutti/client` and the command each bring their own. */
const brand = Symbol.for("tutti.error");

/** The message is one line that says what is wrong and what to do about it. */
export class TuttiError extends Error {
  override readonly name = "TuttiError";
  readonly code: ErrorCode;
  readonly retry: Retry;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, message: string, options: TuttiErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retry = options.retry ?? errorTable[code].retry;
    this.details = options.details;
    Object.defineProperty(this, brand, { value: true });
  }

  /** An error of another copy is one, too: a config or a program may have thrown it, or may be about to catch ours. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this !== TuttiError) return Function.prototype[Symbol.hasInstance].call(this, value);
    if (!(value instanceof Error) || !(brand in value) || !("code" in value)) return false;
    return typeof value.code === "string" && Object.hasOwn(errorTable, value.code);
  }
}

/** Turns anything thrown into a TuttiError; used where foreign code meets ours. */
export function toTuttiError(thrown: unknown): TuttiError {
  if (thrown instanceof TuttiError) return thrown;
  if (thrown instanceof Error) return new TuttiError("internal", thrown.message, { cause: thrown });
  return new TuttiError("internal", String(thrown), { cause: thrown });
}

/** The message of anything thrown, for a text that quotes it. */
export function thrownMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
