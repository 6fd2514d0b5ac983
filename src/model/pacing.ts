// Concurrency and time limits of a provider: its settings, or defaults.

import { isOwnServer } from "./own-server.ts";
import type { ResolvedProvider } from "./resolve-model.ts";

export interface Pacing {
  readonly concurrency: number;
  readonly firstByteMs: number;
  readonly idleMs: number;
  readonly totalMs: number;
  readonly maxWaitMs: number;
}

const minute = 60_000;

/**
 * The default time limits are long, because a model that thinks may be silent for minutes. A server of one's own may need
 * many minutes to load a model and to read a long prompt.
 */
export function pacingOf(provider: ResolvedProvider): Pacing {
  const { settings } = provider;
  const isOwn = isOwnServer(provider);
  return {
    concurrency: settings.concurrency ?? 16,
    firstByteMs: settings.first_byte_ms ?? (isOwn ? 15 : 2) * minute,
    idleMs: settings.idle_ms ?? (isOwn ? 15 : 5) * minute,
    totalMs: settings.total_ms ?? (isOwn ? 60 : 20) * minute,
    maxWaitMs: settings.max_wait_ms ?? 5 * minute,
  };
}
