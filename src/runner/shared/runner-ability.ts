// What a machine must have to run a task, beyond what every machine with Tutti has.

import { z } from "zod";

import type { RunnerConfig } from "../../protocol/invocation/executor.ts";
import { knownRunnerKinds } from "../../protocol/invocation/runner-kinds.ts";

const WithProfile = z.looseObject({ profile: z.string().optional() });

/** `acp:claude`, `acp` for any coding agent, or the kind of a runner that a project adds; undefined when every machine has it. */
export function runnerAbility({ kind, config }: RunnerConfig): string | undefined {
  if (kind !== "acp") return knownRunnerKinds.includes(kind) ? undefined : kind;
  const profile = WithProfile.safeParse(config).data?.profile;
  return profile === undefined ? "acp" : `acp:${profile}`;
}
