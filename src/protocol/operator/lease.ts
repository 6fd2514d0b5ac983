// How long a worker may be silent: until it first posts progress as long as its token is valid, from then on shorter.

/** Milliseconds after each post; after a restart of the daemon at least as long. */
export const leaseAfterProgress = 2 * 60 * 1000;
