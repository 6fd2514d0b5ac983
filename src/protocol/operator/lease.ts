// How long a worker may be silent: until it first posts progress as long as its token is valid, from then on shorter.

import { defaultTokenLife } from "./capability-token.ts";

/** Milliseconds after each post, unless the runner's config says otherwise. After a restart of the daemon at least as long. */
export const leaseAfterProgress = 2 * 60 * 1000;

/** The lives of one attempt's rights, in milliseconds. */
export interface AttemptLives {
  /** How long a token and a handle are valid, and how long the worker may be silent before its first progress post. */
  readonly tokenMs: number;
  /** How long the worker may be silent after a progress post. */
  readonly leaseMs: number;
}

export const defaultLives: AttemptLives = { tokenMs: defaultTokenLife, leaseMs: leaseAfterProgress };
