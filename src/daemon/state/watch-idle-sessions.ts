// Looks for idle sessions again and again while the daemon runs.

import { endIdleSessions, type IdleSessionsDeps } from "./idle-sessions.ts";

const everyMs = 30_000;

export function watchIdleSessions(deps: IdleSessionsDeps): { close(): Promise<void> } {
  let looking: Promise<unknown> | undefined;
  const look = (): void => {
    looking ??= endIdleSessions(deps)
      .catch((thrown: unknown) => deps.log.warn({ err: thrown }, "idle sessions could not be looked for"))
      .finally(() => (looking = undefined));
  };
  const timer = setInterval(look, everyMs).unref();
  return {
    async close() {
      clearInterval(timer);
      await looking;
    },
  };
}
