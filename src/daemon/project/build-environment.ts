// Builds the environment of a project's agents: the built-in tools, the project's own tools, and the runners besides `local`.

import { builtinTools, type AgentEnvironment } from "../../agent/agent-environment.ts";
import { loopToolNames } from "../../agent/tools/loop-tools.ts";
import { runTool } from "../../agent/tools/run.ts";
import { readUserTools } from "../../agent/tools/user-tools.ts";
import { TuttiError } from "../../protocol/error.ts";
import { sandboxCommands } from "../../runner/shared/sandbox/sandbox-commands.ts";
import { probeSandbox } from "../../runner/shared/sandbox/sandbox-status.ts";
import type { LoadedConfig } from "./project-config.ts";

/**
 * Programs run in a sandbox where there is one, and cannot see the folder `state` there: it has the conversations of all
 * tasks and the key that signs tokens.
 */
export async function buildEnvironment(
  { file, config }: LoadedConfig,
  state: string,
): Promise<Partial<AgentEnvironment>> {
  const run = runTool(sandboxCommands(await probeSandbox(), { hidden: [state] }));
  const builtin = [...builtinTools, run];
  const taken = [...loopToolNames, ...builtin.map((tool) => tool.name)];
  const user = readUserTools(config.tools, { file: file ?? "the config", taken });
  if (!user.ok) throw new TuttiError("invalid_input", user.issues.join("; "), { details: { issues: user.issues } });
  return {
    tools: [...builtin, ...user.tools],
    runners: [
      { kind: "command", runtime: "command" },
      { kind: "operator", runtime: "operator" },
    ],
    offLimits: [state],
    ...(config.approvals === undefined ? {} : { approvals: config.approvals }),
  };
}
