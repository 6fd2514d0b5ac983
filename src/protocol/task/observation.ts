// What a task's session is doing, as it was seen from outside: never from what a model says of it.

import { z } from "zod";
import { AskId, TaskId, Time } from "../ids.ts";
import { ModelWait } from "./model-wait.ts";
import { TaskEvent } from "./event.ts";
import { TaskStatus } from "./task-status.ts";

/**
 * `queued`: it has not begun. `waiting`: for a person. `stopped`: until it is resumed. `stalled`: nothing was heard of it
 * for long. `delegating`: nothing was heard of it for long, because it waits for tasks that it started. `looping`: it made the same call three times and got the same result. `idle`: it has answered and waits for a
 * message.
 */
export const Activity = z.enum([
  "queued",
  "working",
  "waiting",
  "stopped",
  "stalled",
  "delegating",
  "looping",
  "idle",
  "ended",
]);
export type Activity = z.infer<typeof Activity>;

export const Observation = z.strictObject({
  task: TaskId,
  agent: z.string(),
  runner: z.string(),
  status: TaskStatus,
  attempt: z.int().positive(),
  activity: Activity,
  /** One line, at most 200 characters. */
  summary: z.string(),
  /** When something was last heard of it. */
  last_event_at: Time,
  /** The question that it waits for. */
  ask: AskId.nullable(),
  /** The model that it waits for, because its call has to be made again. */
  model_wait: ModelWait.optional(),
});
export type Observation = z.infer<typeof Observation>;

/** With the latest events of the task itself, oldest first. */
export const DetailedObservation = z.strictObject({ ...Observation.shape, recent: z.array(TaskEvent) });
export type DetailedObservation = z.infer<typeof DetailedObservation>;
