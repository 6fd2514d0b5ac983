// Waits for whatever ends a daemon: a signal, a request, a store that failed, or an error nobody took care of.

import { constants } from "node:os";

import { TuttiError } from "../../protocol/error.ts";

export interface StopReason {
  readonly why: string;
  readonly graceMs: number;
  /** What it ends with, when it does not end well. */
  readonly error?: TuttiError;
}

export interface Stopping {
  readonly reason: Promise<StopReason>;
  /** The first reason counts. */
  stop(reason: StopReason): void;
  /** Gives the signals back. */
  close(): void;
}

export interface StoppingOptions {
  /** How long steps may take after a signal. */
  readonly graceMs: number;
  /** Told of an error nobody took care of, before the daemon stops on it. */
  readonly onError: (thrown: unknown) => void;
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** A second signal ends the process at once: nothing that was acknowledged is lost by that. */
export function stopping({ graceMs, onError }: StoppingOptions): Stopping {
  let stop: (reason: StopReason) => void = () => undefined;
  const reason = new Promise<StopReason>((resolve) => (stop = resolve));
  let signalled = false;
  const onSignal = (signal: (typeof signals)[number]): void => {
    if (signalled) process.exit(128 + constants.signals[signal]);
    signalled = true;
    stop({ why: signal, graceMs });
  };
  const onThrown = (thrown: unknown): void => {
    onError(thrown);
    const said = thrown instanceof Error ? thrown.message : String(thrown);
    const error = new TuttiError("internal", `the daemon stopped on an error nobody took care of: ${said}`, {
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
