// The environment a project's agents live in: the built-in tools, programs confined where that works, and the project's own tools.

import { builtinTools, type AgentEnvironment } from "../../agent/agent-environment.ts";
import { runTool } from "../../agent/tools/run.ts";
import { readUserTools } from "../../agent/tools/user-tools.ts";
import { TuttiError } from "../../protocol/error.ts";
import { sandboxCommands } from "../../runner/sandbox/sandbox-commands.ts";
import { probeSandbox } from "../../runner/sandbox/sandbox-status.ts";
import type { LoadedConfig } from "./project-config.ts";

/** What the loop itself does; no tool may have one of these names. */
export const loopTools = ["final", "handover", "invoke_agent"];

/** `state` is hidden from programs: it holds what every task said, and the keys of tokens. */
export async function buildEnvironment(
  { file, config }: LoadedConfig,
  state: string,
): Promise<Partial<AgentEnvironment>> {
  const run = runTool(sandboxCommands(await probeSandbox(), { hidden: [state] }));
  const built = [...builtinTools, run];
  const taken = [...loopTools, ...built.map((tool) => tool.name)];
  const own = readUserTools(config.tools, { file: file ?? "the config", taken });
  if (!own.ok) throw new TuttiError("invalid_input", own.issues.join("; "), { details: { issues: own.issues } });
  return {
    tools: [...built, ...own.tools],
    // Where a loop can run besides here.
    runners: [
      { kind: "command", runtime: "command" },
      { kind: "operator", runtime: "operator" },
    ],
    ...(config.approvals === undefined ? {} : { approvals: config.approvals }),
  };
}
