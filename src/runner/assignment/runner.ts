// The runner `assignment`: one delegated task of a goal, from its handoff to a result that is verified or not.

import type { Runner } from "../../ports.ts";
import { Attempt } from "./attempt.ts";
import { readAssignmentConfig } from "./config.ts";
import { driveAttempt } from "./drive.ts";
import type { AssignmentOptions } from "./assignment-options.ts";

/** The task ends only after its work was verified and reviewed; a try in between is an attempt of the same task. */
export function assignmentRunner(options: AssignmentOptions): Runner {
  return (durable, config) => driveAttempt(new Attempt(durable, options, readAssignmentConfig(config)));
}
