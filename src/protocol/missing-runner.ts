// The error with which a task says that this machine cannot run it, although another one may.

import { TuttiError } from "./error.ts";

/** `runner` is a kind, or a kind and what it needs: `acp:claude`. Nothing of the task has failed: it waits where there are others. */
export function missingRunner(runner: string, message: string): TuttiError {
  return new TuttiError("stopped", message, { details: { missing_runner: runner } });
}

/** The runner that is missing; undefined for every other error. */
export function missingRunnerIn(thrown: unknown): string | undefined {
  if (!(thrown instanceof TuttiError) || thrown.code !== "stopped") return undefined;
  const runner = thrown.details?.["missing_runner"];
  return typeof runner === "string" ? runner : undefined;
}
