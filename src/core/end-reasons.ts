// How the loop of a task learns why it is ended: what the signal of a task that was killed or stopped is aborted with.

import { TuttiError } from "../protocol/error.ts";

/** Its processes are to be ended at once, without being asked first. */
export function killReason(task: string): TuttiError {
  return new TuttiError("canceled", `the task ${task} was killed`, { details: { killed: true } });
}

export function isKilled(signal: Pick<AbortSignal, "reason">): boolean {
  return hasMark(signal, "killed");
}

/** Whatever the next attempt needs is to be kept, as when Tutti itself is stopped; but there is time to put things in order. */
export function stopReason(why: string): TuttiError {
  return new TuttiError("stopped", `the task was stopped: ${why}`, { details: { task_stopped: true } });
}

export function isTaskStopped(signal: Pick<AbortSignal, "reason">): boolean {
  return hasMark(signal, "task_stopped");
}

function hasMark({ reason }: Pick<AbortSignal, "reason">, mark: string): boolean {
  return reason instanceof TuttiError && reason.details?.[mark] === true;
}
