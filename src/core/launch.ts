// Which tasks of a decision can be launched, and what the manager is told if it tried to do the work itself.
import { isLaunchable } from "../protocol/decision/decision.ts";
import type { Dropped, TaskSpec } from "../protocol/decision/decision.ts";
import { workProhibitionRange } from "../protocol/decision/prohibitions.ts";
import { trimSpace } from "../protocol/white-space.ts";

export interface Launch {
  readonly launch: readonly TaskSpec[];
  readonly dropped: readonly Dropped[];
}

/** Keeps the order of the tasks. Each blank one is dropped, named by its position and by its id if it has one. */
export function launchable(tasks: readonly TaskSpec[]): Launch {
  const dropped = tasks.flatMap((task, index) => {
    if (isLaunchable(task)) return [];
    const what = task.id === undefined ? `tasks[${index}]` : `tasks[${index}] (${task.id})`;
    const blank = (["workdir", "prompt"] as const).filter((field) => trimSpace(task[field]) === "");
    return [{ what, reason: `${blank.join(" and ")} ${blank.length > 1 ? "are" : "is"} blank` }];
  });
  return { launch: tasks.filter(isLaunchable), dropped };
}

/** The answer to `do_work`: that nothing was done, why, and what to do instead. */
export function refuseDirectWork(summary: string): string {
  const attempted = trimSpace(summary);
  const refusal =
    `Refused: the manager may not do work itself (${workProhibitionRange}). Nothing was carried out. ` +
    "To get it done, launch a session for it";
  return attempted === "" ? `${refusal}.` : `${refusal}. Attempted: ${attempted}`;
}
