// How many messages a task may be sent.

import { passedLimit, quotas } from "../core/quotas.ts";
import { TuttiError } from "../protocol/error.ts";
import type { Store } from "../store/store.ts";
import type { LiveTask } from "./live-task.ts";

/** Throws if the task was sent more messages than it may be, in this process and before. */
export function countMessage(store: Store, task: LiveTask, bytes: number): void {
  // All attempts count: they are sent to the task.
  const used = task.messaged ?? (task.fresh ? { count: 0, bytes: 0 } : store.mailSent(task.id, 0, "message"));
  const passed = passedLimit(quotas.messages, used, { count: 1, bytes });
  if (passed !== undefined) {
    const limit =
      passed === "count" ? `${quotas.messages.count} messages` : `${quotas.messages.bytes} bytes of messages`;
    throw new TuttiError("too_large", `${task.name} was sent ${limit} already and takes no more; start a new task`);
  }
  task.messaged = { count: used.count + 1, bytes: used.bytes + bytes };
}
