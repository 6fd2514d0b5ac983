// A call of a model that is made again after a pause: the event that says so, and how it is told to people.

import type { TaskEvent } from "../protocol/task/event.ts";
import type { ModelWait } from "../protocol/task/model-wait.ts";
import { escapeInvisible } from "./escape-invisible.ts";

type Waiting = Extract<TaskEvent, { type: "model.waiting" }>;

interface Again {
  readonly reason: string;
  readonly waitMs: number;
  readonly next: number;
  readonly most: number;
}

const longestReason = 300;

/** To be told during the step of the call: a key that no other wait of it has, and the event. */
export function modelWaiting(
  model: string,
  { reason, waitMs, next, most }: Again,
  now: number,
): [key: string, event: Pick<Waiting, "type" | "data">] {
  const until = now + Math.max(0, Math.round(waitMs));
  const data = { model, reason: reason.slice(0, longestReason), next, most, until };
  return [`waiting.${now}.${next}`, { type: "model.waiting", data }];
}

/** `waiting for keyed/m: rate limit, try 4 of 25, next in 8 s`. */
export function waitingText({ model, reason, next, most, until }: ModelWait, now: number): string {
  const seconds = Math.ceil((until - now) / 1_000);
  const when = seconds < 1 ? "now" : seconds < 90 ? `in ${seconds} s` : `in ${Math.round(seconds / 60)} min`;
  return escapeInvisible(`waiting for ${model}: ${reason}, try ${next} of ${most}, next ${when}`);
}

/** Whether the call that waited has an outcome, or was given up with its run. */
export function endsWaiting({ type, data }: TaskEvent): boolean {
  switch (type) {
    case "message.added":
      return data.step !== undefined;
    case "step.finished":
    case "run.started":
    case "attempt.ended":
    case "task.completed":
    case "task.failed":
    case "task.canceled":
      return true;
    default:
      return false;
  }
}

/** What a task waits for, by its latest events, oldest first; undefined when it waits for no model. */
export function waitingIn(events: readonly TaskEvent[]): ModelWait | undefined {
  for (const event of events.toReversed()) {
    if (event.type === "model.waiting") return event.data;
    if (endsWaiting(event)) return undefined;
  }
  return undefined;
}
