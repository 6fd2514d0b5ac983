// Lets one piece of work wait for the one before: two that change the same things would look at what the other one is changing.

export interface OneAtATime {
  readonly exclusively: <T>(work: () => Promise<T>) => Promise<T>;
  /** Resolves when all that was begun or waits so far has ended. */
  readonly idle: () => Promise<void>;
}

export function oneAtATime(): OneAtATime {
  let last: Promise<unknown> = Promise.resolve();
  return {
    exclusively(work) {
      const next = last.then(work);
      last = next.catch(() => undefined);
      return next;
    },
    idle: async () => void (await last),
  };
}
