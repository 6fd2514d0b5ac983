// What is known at once, without reading the store, of a task that is not over and of its children.

import { isTerminal } from "../protocol/task/task-status.ts";
import type { LiveSession } from "../ports.ts";
import type { LiveTask } from "./live-task.ts";

/** Undefined when the task is over, or there is none. */
export function liveSession(task: LiveTask | undefined): LiveSession | undefined {
  if (task === undefined || task.result !== undefined) return undefined;
  const children = [...(task.children ?? [])].filter(({ status }) => !isTerminal(status)).map(nameOf);
  return { ...nameOf(task), children };
}

function nameOf({ name, agent, kind }: LiveTask): Omit<LiveSession, "children"> {
  return { task: name, agent, runner: kind };
}
