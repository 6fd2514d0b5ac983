// The config of the local runner: the model, and the workspace that the agent works in.

import { z } from "zod";

import { WorkspaceId } from "../../workspace/index.ts";
import { readRunnerConfig } from "../shared/runner-config.ts";
import { WantedWorkspace } from "../shared/wanted-workspace.ts";

const LocalConfig = z.strictObject({
  /** Goes before the model of the agent's definition. */
  model: z.string().min(1).max(300).optional(),
  /** The models to try next; go before those of the definition. */
  fallback_models: z.array(z.string().min(1).max(300)).max(100).optional(),
  /** A workspace of the task's own. Without one, the agent works in the task's folders themselves. */
  workspace: WantedWorkspace.optional(),
  /** The workspace of the task that called this one; the runner sets it, and an invocation cannot. */
  within: WorkspaceId.optional(),
});

export function readLocalConfig(config: unknown): z.infer<typeof LocalConfig> {
  return readRunnerConfig("local", LocalConfig, config);
}
