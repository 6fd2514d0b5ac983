// Checks an invocation before its root task exists, so that a mistake is reported at once and starts nothing.

import type { AgentEnvironment } from "../../agent/agent-environment.ts";
import { planInvocation } from "../../agent/delegation/plan.ts";
import type { NewTask } from "../../ports.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { RunnerConfig } from "../../protocol/invocation/executor.ts";
import type { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { readAcpConfig } from "../acp/config.ts";
import { readCommandConfig } from "../command/config.ts";
import { readOperatorConfig } from "../operator/config.ts";
import { rootCaller } from "./runner.ts";

/** Readers that throw for a config their runner could not use, by the kind of the runner. */
const configReaders = new Map<string, (config: unknown) => unknown>([
  ["command", readCommandConfig],
  ["operator", readOperatorConfig],
  ["acp", readAcpConfig],
]);

/**
 * Throws `invalid_input` when a target could not become a task. Returns the tasks as planned now, for further checks only:
 * the runner plans again when the root runs. The plan is not recorded, because the root may first run after a restart, when
 * the project's tools and runners may have changed, and its children must fit what is there then. Planning is pure, so both
 * plans are the same as long as nothing changed.
 */
export function checkInvocation(
  file: InvocationFile,
  root: Pick<NewTask, "rights">,
  environment: Partial<AgentEnvironment>,
): readonly NewTask[] {
  const plan = planInvocation(rootCaller({ file, environment, rights: root.rights, now: 0 }), file.invocation);
  if (!plan.ok) {
    throw new TuttiError("invalid_input", plan.message, plan.details === undefined ? {} : { details: plan.details });
  }
  for (const { runner } of plan.children) checkRunnerConfig(runner);
  return plan.children;
}

/** Throws `invalid_input` when the runner could not use its config; a runner that reads its config itself checks it later. */
export function checkRunnerConfig({ kind, config }: RunnerConfig): void {
  configReaders.get(kind)?.(config);
}
