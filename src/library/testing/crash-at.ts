// Says where a test wants Tutti to crash.

import type { CrashPlan } from "../../daemon/state/crash-plan.ts";

export interface CrashOptions {
  /**
   * `before`: the body of the step does not run. `during`, the default: the body has run, and its outcome is not recorded.
   * `after`: the outcome is recorded.
   */
  readonly when?: CrashPlan["when"];
  /** The first time that the step comes by when absent. */
  readonly time?: number;
}

/**
 * `step` is the key of a workflow's step or the name of a tool. Give it to `openTutti` as `testing: { crash }`, wait for
 * `tutti.crashed`, and open the same state again: everything that was recorded is there, and nothing else.
 */
export function crashAt(step: string, { when = "during", time = 1 }: CrashOptions = {}): CrashPlan {
  return { step, when, time };
}
