// Waits for whatever stops a daemon: a signal, a request, a store that failed, or an error that nobody handled.

import { constants } from "node:os";

import { TuttiError } from "../../protocol/error.ts";

export interface StopReason {
  readonly why: string;
  readonly graceMs: number;
  /** The daemon ends with this error. */
  readonly error?: TuttiError;
}

export interface StopTrigger {
  readonly reason: Promise<StopReason>;
  /** The first reason counts. */
  stop(reason: StopReason): void;
  /** Removes the handlers of signals and errors. */
  close(): void;
}

export interface StopTriggerOptions {
  /** How long running steps may take to finish after a signal. */
  readonly graceMs: number;
  /** Called with an error that nobody handled, before the daemon stops because of it. */
  readonly onError: (thrown: unknown) => void;
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** A second signal ends the process at once. Nothing that was acknowledged is lost by that. */
export function listenForStop({ graceMs, onError }: StopTriggerOptions): StopTrigger {
  const { promise: reason, resolve: stop } = Promise.withResolvers<StopReason>();
  let signalled = false;
  const onSignal = (signal: (typeof signals)[number]): void => {
    if (signalled) process.exit(128 + constants.signals[signal]);
    signalled = true;
    stop({ why: signal, graceMs });
  };
  const onThrown = (thrown: unknown): void => {
    onError(thrown);
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    const error = new TuttiError("internal", `the daemon stopped because of an unhandled error: ${message}`, {
      cause: thrown,
    });
    stop({ why: "error", graceMs, error });
  };
  for (const signal of signals) process.on(signal, onSignal);
  process.on("uncaughtException", onThrown);
  process.on("unhandledRejection", onThrown);
  return {
    reason,
    stop,
    close() {
      for (const signal of signals) process.off(signal, onSignal);
      process.off("uncaughtException", onThrown);
      process.off("unhandledRejection", onThrown);
    },
  };
}
