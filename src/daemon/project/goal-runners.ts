// Builds the two runners of goals for a project: the manager, and the assignment that carries out one task of it.

import { treeFile } from "../../agent/delegation/task-input.ts";
import { managerRunner } from "../../manager/manager.ts";
import type { Model } from "../../model-port.ts";
import type { Runner, RunnerRegistry } from "../../ports.ts";
import { GoalFile } from "../../protocol/invocation/goal-file.ts";
import type { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { initialPolicy } from "../../protocol/routing/default-policy.ts";
import { readPolicy } from "../../protocol/routing/read-policy.ts";
import { rememberAllowedChecks } from "../../runner/assignment/ask-about-work.ts";
import { attemptVerifier, type AttemptVerifierOptions } from "../../runner/assignment/attempt-verifier.ts";
import type { GoalPolicy } from "../../runner/assignment/options.ts";
import { assignmentRunner } from "../../runner/assignment/runner.ts";
import { assignTask, shownRoute } from "./assign-task.ts";
import { integrateGoal } from "./integrate-goal.ts";

export interface GoalRunnersOptions {
  readonly model: (file: InvocationFile) => Model;
  /** The model of trees that name none. */
  readonly defaultModel: string;
  /** Runners that can do a task, by kind. */
  readonly inner: RunnerRegistry;
  readonly registered: readonly string[];
  /** Turns aliases and short names into `provider/model`. */
  readonly resolveModel: (name: string) => string;
  readonly verification: AttemptVerifierOptions;
}

export function goalRunners(options: GoalRunnersOptions): { readonly manager: Runner; readonly assignment: Runner } {
  const { defaultModel, inner, registered, verification } = options;
  const models = new WeakMap<InvocationFile, Model>();
  const modelFor = (file: InvocationFile): Model => {
    const known = models.get(file) ?? options.model(file);
    models.set(file, known);
    return known;
  };
  const allowed = rememberAllowedChecks();
  const policyOf = (file: GoalFile): GoalPolicy => goalPolicy(file, defaultModel);
  return {
    manager: managerRunner({
      model: (file) => options.model(treeFile(file)),
      defaultModel,
      assign: (request) => assignTask(request, { defaultModel }),
      route: (request) => shownRoute(request, { policyOf, defaultModel }),
      integrate: (request, step) => integrateGoal(request, step, { ...verification, allowed }),
    }),
    assignment: assignmentRunner({
      inner,
      registered,
      policyOf: ({ rootInput }) => policyOf(GoalFile.parse(rootInput)),
      modelOf: ({ rootInput }) => modelFor(treeFile(rootInput)),
      resolveModel: options.resolveModel,
      verify: attemptVerifier(verification),
      allowed,
      workspaces: verification.workspaces,
    }),
  };
}

/** The policy that the goal was started with; without one, all roles go to the goal's model. */
function goalPolicy({ goal, model }: GoalFile, defaultModel: string): GoalPolicy {
  if (goal.policy === undefined) return { policy: initialPolicy(model ?? defaultModel), isDefault: true };
  const read = readPolicy(goal.policy.text);
  if (!read.ok) throw read.error;
  return { policy: read.value, isDefault: false };
}
