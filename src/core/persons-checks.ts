// The checks that a person named for a goal: with `--check`, for a criterion, or as the whole of a criterion.

import type { Check } from "../protocol/decision/decision.ts";
import type { GoalRequest } from "../protocol/invocation/goal-file.ts";
import { namedCommand } from "./criterion-check.ts";
import { isSameCheck } from "./read-check.ts";

export function personsChecks({ checks, accept }: Pick<GoalRequest, "checks" | "accept">): Check[] {
  const ofCriteria = accept.flatMap((given): Check[] => {
    const argv = namedCommand(typeof given === "string" ? { text: given } : given);
    return argv === undefined ? [] : [{ run: [...argv] }];
  });
  const all = [...checks, ...ofCriteria];
  return all.filter((check, at) => all.findIndex((each) => isSameCheck(each, check)) === at);
}
