// A place notices are sent to, such as a webhook: how a notice is sent there, and how often and how long it is tried.

import type { Notice } from "./notice.ts";

export type SendResult =
  | { readonly outcome: "delivered" }
  /** `retryAfterMs`: the receiver asked to be left alone for so long. */
  | { readonly outcome: "failed"; readonly reason: string; readonly retryAfterMs?: number }
  /** The receiver wants no more notices, neither this one nor others. */
  | { readonly outcome: "gone"; readonly reason: string };

export interface Target {
  /** Stored with every notice for this target. */
  readonly name: "command" | "webhook" | "desktop";
  readonly maxTries: number;
  /** An older notice is of no use any more. */
  readonly maxAgeMs: number;
  /** Whether a try is recorded before it is made, so that a try that crashes the process is not repeated for ever. */
  readonly recordsTryFirst: boolean;
  /** `body` is the notice as JSON. Never throws; an aborted try has failed. */
  send(notice: Notice, body: string, signal: AbortSignal): Promise<SendResult>;
}
