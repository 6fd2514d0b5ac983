// What the assignment runner is given by the service that builds it.

import type { Durable, RunnerRegistry } from "../../ports.ts";
import type { Model } from "../../model-port.ts";
import type { Policy } from "../../protocol/routing/policy.ts";
import type { AssignmentConfig } from "../../protocol/task/assignment.ts";
import type { SessionWorkspaces } from "../shared/session-folder.ts";
import type { AllowedChecks } from "./ask-about-work.ts";
import type { Verify } from "./verifier.ts";

/** The policy of a goal, which holds for its whole tree. */
export interface GoalPolicy {
  readonly policy: Policy;
  /** Nobody wrote it: it was made from the models that are configured. */
  readonly isDefault: boolean;
}

export interface AssignmentOptions {
  /** Those that can do the task, by kind. */
  readonly inner: RunnerRegistry;
  /** Kinds of runners that the project adds. */
  readonly registered: readonly string[];
  readonly policyOf: (durable: Durable, config: Pick<AssignmentConfig, "policy">) => GoalPolicy;
  /** The model that answers for the router. */
  readonly modelOf: (durable: Durable) => Model;
  /** Turns the name of a model, as a policy has it, into `provider/model`. */
  readonly resolveModel: (name: string) => string;
  readonly verify: Verify;
  readonly allowed: AllowedChecks;
  /** Whether programs are confined on this machine. */
  readonly confined: boolean;
  /** Absent where sessions work in the task's folder itself. */
  readonly workspaces?: SessionWorkspaces;
}
