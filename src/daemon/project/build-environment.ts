// Builds the environment of a project's agents: the built-in tools, the project's own tools, and the runners besides `local`.

import { builtinTools, type AgentEnvironment } from "../../agent/agent-environment.ts";
import { lookAround } from "../../agent/workspace/look-around.ts";
import { runTool } from "../../agent/tools/run.ts";
import type { ApprovalSource } from "../../core/approval.ts";
import type { Attendants } from "../../ports.ts";
import type { ApprovalRules } from "../../protocol/invocation/approval-policy.ts";
import { attendedKind, builtinRunners } from "../../protocol/invocation/runner-kinds.ts";
import { heldFolder } from "../../runner/shared/sandbox/held-files.ts";
import { sandboxCommands } from "../../runner/shared/sandbox/sandbox-commands.ts";
import { probeSandbox } from "../../runner/shared/sandbox/sandbox-status.ts";
import { keptApprovals } from "./kept-approvals.ts";
import type { LoadedConfig } from "./project-config.ts";

const attendedWorkflows = { kind: attendedKind, runtime: attendedKind };

/**
 * Programs run in a sandbox where there is one, and cannot see the folder `state` there: it has the conversations of all
 * tasks and the key that signs tokens.
 */
export async function buildEnvironment(
  { config, tools, runners }: Pick<LoadedConfig, "config" | "tools" | "runners">,
  {
    state,
    project,
    userRules,
    defaultModel,
    attendants,
  }: {
    readonly state: string;
    /** The folder of the project, if there is one. */
    readonly project?: string | undefined;
    readonly userRules?: ApprovalRules | undefined;
    readonly defaultModel?: string;
    readonly attendants?: Attendants;
  },
): Promise<Partial<AgentEnvironment>> {
  const run = runTool(sandboxCommands(await probeSandbox(), { hidden: [state], aside: heldFolder(state) }));
  const kept = keptApprovals(state);
  const approvals: ApprovalSource[] = [];
  if (userRules !== undefined) approvals.push({ from: "user", rules: userRules });
  if (config.approvals !== undefined) approvals.push({ from: "project", rules: config.approvals });
  return {
    tools: [...builtinTools, run, ...tools],
    runners: [...builtinRunners.filter(({ kind }) => kind !== "local"), ...runners, attendedWorkflows].map(
      ({ kind, runtime }) => ({ kind, runtime }),
    ),
    attendants,
    ...(defaultModel === undefined ? {} : { defaultModel }),
    approvals,
    ...(project === undefined ? {} : { standing: { find: (call) => kept.find(project, call) } }),
    offLimits: [state],
    lookAround,
  };
}
