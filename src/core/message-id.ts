// The id of a message a task records: it follows from where it was recorded, so a run that resumes gives the same id.

/** The run that records the message. */
export interface RunPosition {
  readonly task: string;
  readonly attempt: number;
  readonly run: number;
}

/** `key` is the key of the operation that records it, unique in the run. */
export function messageId({ task, attempt, run }: RunPosition, key: string): string {
  return `${task}.${attempt}.${run}.${key}`;
}

/** Whether the message was recorded in this attempt of the task, by whichever of its runs. */
export function isOfAttempt(id: string, { task, attempt }: Omit<RunPosition, "run">): boolean {
  return id.startsWith(`${task}.${attempt}.`);
}
