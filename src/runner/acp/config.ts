// The config of the acp runner: which coding agent, and which model of it.

import { z } from "zod";

import { readRunnerConfig } from "../shared/runner-config.ts";
import { WantedWorkspace } from "../shared/wanted-workspace.ts";
import { profileName } from "./profile.ts";

export const AcpConfig = z.strictObject({
  /** The first profile whose program is installed, when absent. */
  profile: z.string().regex(profileName, "must be the name of a profile").optional(),
  /** As the agent itself names it; the agent's own choice when absent. */
  model: z
    .string()
    // One that begins with a dash would be an option of the agent, as `--yolo` is.
    .regex(/^[\w.:/@+[\]][\w.:/@+[\]-]{0,199}$/, "must be the name of a model")
    .optional(),
  workspace: WantedWorkspace.default({}),
});
export type AcpConfig = z.infer<typeof AcpConfig>;

export function readAcpConfig(config: unknown): AcpConfig {
  return readRunnerConfig("acp", AcpConfig, config);
}
