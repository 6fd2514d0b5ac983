// Makes the task of a schedule.

import type { NewTask } from "../../ports.ts";
import type { ScheduleConfig } from "./config.ts";

export const scheduleKind = "schedule";

/** Sleeping counts as working time, so the time has no limit. The work that is started has budgets of its own. */
export function scheduleTask(config: ScheduleConfig): NewTask {
  return {
    runner: { kind: scheduleKind, config },
    agent: scheduleKind,
    input: config.about,
    rights: { tools: [], roots: [config.folder] },
    budget: { time_ms: Number.MAX_SAFE_INTEGER },
  };
}
