// Somewhere notices go: how it is sent there, and for how long it is tried.

import type { Notice } from "./notice.ts";

export type Sent =
  | { readonly outcome: "delivered" }
  | { readonly outcome: "failed"; readonly reason: string; readonly waitMs?: number }
  /** It wants no more notices, this one or others. */
  | { readonly outcome: "gone"; readonly reason: string };

export interface Target {
  /** Kept with every notice for it. */
  readonly name: "command" | "webhook" | "desktop";
  readonly maxTries: number;
  /** After it a notice is of no use any more. */
  readonly maxAgeMs: number;
  /** Whether a try counts before it is made, so that one that ends the process is not made for ever. */
  readonly claimed: boolean;
  /** `body` is the notice as JSON. Never throws; an abort is a failure. */
  send(notice: Notice, body: string, signal: AbortSignal): Promise<Sent>;
}
