// Concurrency and time limits of a provider: its settings, or defaults.

import type { ProviderSettings } from "./models-config.ts";

export interface Pacing {
  readonly concurrency: number;
  readonly firstByteMs: number;
  readonly idleMs: number;
  readonly totalMs: number;
  readonly maxWaitMs: number;
}

const minute = 60_000;

/** The default time limits are long, because a model that thinks may be silent for minutes. */
export function pacingOf(settings: ProviderSettings): Pacing {
  return {
    concurrency: settings.concurrency ?? 16,
    firstByteMs: settings.first_byte_ms ?? 2 * minute,
    idleMs: settings.idle_ms ?? 5 * minute,
    totalMs: settings.total_ms ?? 20 * minute,
    maxWaitMs: settings.max_wait_ms ?? 5 * minute,
  };
}
