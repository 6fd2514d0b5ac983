// Tells of each run of a check as an event of the task whose step runs it, so that everybody who looks sees what is under way.

import type { RunningStep } from "../../ports.ts";
import type { StartedCheck } from "../../protocol/task/started-check.ts";

/** A step that is begun again after a restart tells of its runs again, since they are made again. */
export function tellingOfChecks(step: RunningStep): (started: StartedCheck) => void {
  const begun = step.now();
  let count = 0;
  return (data) => {
    count += 1;
    step.during.tell(`check ${begun} ${count}`, { type: "check.started", data });
  };
}
