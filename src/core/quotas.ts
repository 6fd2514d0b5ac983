// How much may be sent to one task from outside, so that nobody who may only post can fill the disk. One place for all limits.

const mebibyte = 1024 * 1024;

export interface Quota {
  readonly count: number;
  readonly bytes: number;
}

export const quotas = {
  /** Progress and partial results of one attempt's worker. */
  workerEvents: { count: 10_000, bytes: 64 * mebibyte },
  /** Questions of one attempt's worker. */
  workerAsks: { count: 200, bytes: 4 * mebibyte },
  /** Messages to one task from people and programs. */
  messages: { count: 10_000, bytes: 64 * mebibyte },
} as const satisfies Record<string, Quota>;

/** Which limit is passed when the amount is added to what was used; undefined when both hold. */
export function passedLimit(quota: Quota, used: Quota, added: Quota): keyof Quota | undefined {
  if (used.count + added.count > quota.count) return "count";
  return used.bytes + added.bytes > quota.bytes ? "bytes" : undefined;
}
