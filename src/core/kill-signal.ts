// How the loop of a task learns that it was killed: its processes are to be ended at once, without being asked first.

import { TuttiError } from "../protocol/error.ts";

/** What the signal of a killed task is aborted with. */
export function killReason(task: string): TuttiError {
  return new TuttiError("canceled", `the task ${task} was killed`, { details: { killed: true } });
}

export function isKilled({ reason }: Pick<AbortSignal, "reason">): boolean {
  return reason instanceof TuttiError && reason.details?.["killed"] === true;
}
