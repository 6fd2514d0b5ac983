// How long a worker may be silent: while its token lives until it first posts progress, shorter from then on.

/** Milliseconds, after each sign of life; after a restart of the daemon at least as long. */
export const leaseAfterProgress = 2 * 60 * 1000;
