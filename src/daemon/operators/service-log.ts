// The log of the operator and worker services; the daemon passes its logger.

import { toTuttiError } from "../../protocol/error.ts";

export interface ServiceLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
}

/** For work that nobody waits for: a failure is logged. A store that has failed is reported by everything else that uses it. */
export function runLogged(log: ServiceLog, what: string, work: () => void): void {
  try {
    work();
  } catch (thrown) {
    log.warn({ err: toTuttiError(thrown) }, `${what} failed`);
  }
}
