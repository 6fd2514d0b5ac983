// The checks that a person named for a goal: with `--check`, for a criterion, or as the whole of a criterion.

import type { Check } from "../protocol/decision/decision.ts";
import type { GoalRequest } from "../protocol/invocation/goal-file.ts";
import { namedCommand } from "./criterion-check.ts";
import { isSameCheck, readCheck } from "./read-check.ts";

type NamedByPerson = Pick<GoalRequest, "checks" | "accept">;

/** Throws `invalid_input` for a check that could never run, before any work is paid for. */
export function refuseUnreadable({ checks, accept }: NamedByPerson): void {
  for (const check of checks) readCheck(check);
  for (const given of accept) if (typeof given !== "string" && given.by !== undefined) readCheck(given.by);
}

export function personsChecks({ checks, accept }: NamedByPerson): Check[] {
  const ofCriteria = accept.flatMap((given): Check[] => {
    const argv = namedCommand(typeof given === "string" ? { text: given } : given);
    return argv === undefined ? [] : [{ run: [...argv] }];
  });
  const all = [...checks, ...ofCriteria];
  return all.filter((check, at) => all.findIndex((each) => isSameCheck(each, check)) === at);
}
